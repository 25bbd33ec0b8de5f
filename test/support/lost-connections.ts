/** Connections to PostgreSQL that are ended by the server, as by an administrator. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../src/store/base/database.ts';
import { asIdentification, asRead } from '../../src/store/base/request-unit.ts';

/** More than a pool has. */
const CONNECTIONS = 20;
const END_WAIT_MS = 5_000;

/** Ends all connections to the database but the one that is used for it. Resolves when they have ended. */
export async function endOtherConnections(db: Database): Promise<void> {
  await db.execute(sql`
    select pg_terminate_backend(pid, ${END_WAIT_MS}::bigint) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`);
}

/**
 * To be called when a test has ended connections: the next statement on one of them would fail, in that test or in
 * another one that gets the database. Here each connection has one, so that those that have ended are replaced.
 */
export async function replaceLostConnections(db: Database): Promise<void> {
  const useAll = () =>
    Promise.allSettled(Array.from({ length: CONNECTIONS }, () => db.execute(sql`select 1`)));
  await Promise.all([useAll(), asRead(useAll), asIdentification(useAll)]);
}
