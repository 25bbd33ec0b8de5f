/** Applies the pending migrations of both stores. */
import type { Logger } from '../../log.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { applyFiles, findMissingTables, findPendingFiles } from '../../metering/schema/schema.ts';
import { readSchemaFiles } from '../../metering/schema/schema-files.ts';
import type { Database } from '../../store/base/database.ts';
import { applyMigrations, findPendingMigrations, withMigrationLock } from '../../store/migrations/migrate.ts';
import type { PostgresConnection } from '../../store/postgres-driver/connect-postgres.ts';

export interface StoresToMigrate {
  readonly postgres: PostgresConnection;
  readonly clickhouse: ClickHouse;
  /** Name of the ClickHouse cluster; undefined for a single node. */
  readonly cluster: string | undefined;
  readonly log?: Logger | undefined;
}

/**
 * Safe if several processes start at once: one lock in PostgreSQL covers both stores. Both are checked before either is
 * changed. PostgreSQL is first, because it applies all of its migrations or none.
 *
 * Throws a `MigrationError` for the operator.
 */
export async function migrateStores({ postgres, clickhouse, cluster, log }: StoresToMigrate): Promise<void> {
  const migrate = async (db: Database) => {
    const files = await readSchemaFiles();
    const newFiles = await findPendingFiles(clickhouse, cluster, files);
    const missing = await findMissingTables(clickhouse, files, newFiles);
    if (missing.length > 0)
      log?.warn({ tables: missing }, 'tables of ClickHouse are missing: they are created again, empty');
    const pendingFiles = missing.length > 0 ? files : newFiles;
    // Migrations may wait for a mutation.
    if (pendingFiles.length > 0) await clickhouse.startMerges?.();
    await applyMigrations(db, await findPendingMigrations(db));
    await applyFiles(clickhouse, cluster, files, pendingFiles);
  };
  await withMigrationLock(postgres, migrate, { say: (line) => log?.warn(line) });
}
