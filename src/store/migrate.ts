/**
 * Applies the generated migrations in drizzle/. All pending ones run in one transaction, so a failing
 * one leaves the database as it was.
 */
import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate } from 'drizzle-orm/postgres-js/migrator';
import { connectPostgres, type PostgresConnection } from './database.ts';

/** At the package root, which is two levels up from src/store and from dist/store alike. */
const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../drizzle', import.meta.url));

/** Any fixed number will do, as long as nothing else in this database takes the same lock. */
const MIGRATION_LOCK = 7_206_455_141;

/**
 * Brings the database up to date. Safe when several processes start at once: the migrator takes no
 * lock of its own, so one connection holds an advisory lock from before it looks until it is done.
 */
export async function migrateDatabase(
  connection: PostgresConnection,
  migrationsFolder: string = MIGRATIONS_FOLDER,
): Promise<void> {
  const client = connectPostgres(connection, {
    max: 1,
    connection: { application_name: 'tallyhouse migrate' },
  });
  try {
    await client`select pg_advisory_lock(${MIGRATION_LOCK})`;
    await migrate(drizzle(client), { migrationsFolder });
  } finally {
    await client.end({ timeout: 5 });
  }
}
