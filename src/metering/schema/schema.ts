/**
 * Brings the tables in ClickHouse up to date: the files of clickhouse/ are applied once, in order, and each is recorded
 * in `schema_migrations` when its last statement is done. ClickHouse has no transactions over several statements, so a
 * file that failed half-way is repeated from its first statement at the next start.
 *
 * The caller prevents other processes from doing the same concurrently (`store/migrations/migrate.ts`).
 */
import { z } from 'zod';
import { failureReason, MigrationError, pendingMigrations } from '../../core/migrations.ts';
import { NO_EVENTS } from '../client/around.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { readSchemaFiles, renderStatements, type SchemaFile } from './schema-files.ts';

const STORE = 'ClickHouse';

/** The record itself. It cannot be a migration, and never changes. */
const RECORD = `
CREATE TABLE IF NOT EXISTS schema_migrations\${LOCAL} \${ON_CLUSTER}
(
  name       String                 COMMENT 'Of the file in clickhouse/',
  checksum   String                 COMMENT 'SHA-256 of its text',
  applied_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = \${REPLICATED}MergeTree
ORDER BY name
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- only on a cluster
CREATE TABLE IF NOT EXISTS schema_migrations \${ON_CLUSTER}
AS schema_migrations\${LOCAL}
ENGINE = Distributed(\${CLUSTER}, currentDatabase(), schema_migrations\${LOCAL}, sipHash64(name));
`;

const appliedRow = z.object({ name: z.string(), checksum: z.string() });

/** Applies and records pending files. `cluster` is the name of the cluster, or undefined for a single node. */
export async function applySchema(
  clickhouse: ClickHouse,
  cluster: string | undefined,
  folder?: string,
): Promise<void> {
  const files = await readSchemaFiles(folder);
  const pending = await findPendingFiles(clickhouse, cluster, files);
  await applyFiles(clickhouse, cluster, files, pending);
}

/**
 * In order; without a record all files are pending. Throws a `MigrationError` if this version does not know the state
 * of the database, and changes none of the tables.
 */
export async function findPendingFiles(
  clickhouse: ClickHouse,
  cluster: string | undefined,
  files: readonly SchemaFile[],
): Promise<SchemaFile[]> {
  for (const statement of renderStatements(RECORD, cluster)) await clickhouse.command(statement);
  const applied = await clickhouse.query({
    sql: 'SELECT DISTINCT name, checksum FROM schema_migrations ORDER BY name',
    schema: appliedRow,
  });
  return pendingMigrations(STORE, files, applied);
}

const nameRow = z.object({ name: z.string() });

/**
 * Tables of applied files that the database does not have: their definitions were lost with files of ClickHouse. They
 * are created again, empty, when all files are applied again; their lost rows are then found missing (`stored-parts`).
 */
export async function findMissingTables(
  clickhouse: ClickHouse,
  files: readonly SchemaFile[],
  pending: readonly SchemaFile[],
): Promise<string[]> {
  const applied = files.filter((file) => !pending.includes(file));
  const created = applied.flatMap(({ text }) =>
    [...text.matchAll(CREATED_TABLE)].map(([, name = '']) => name),
  );
  const rows = await clickhouse.query({
    sql: 'SELECT name FROM system.tables WHERE database = currentDatabase()',
    schema: nameRow,
    eventsOf: NO_EVENTS,
  });
  const present = new Set(rows.map(({ name }) => name));
  return created.filter((name) => !present.has(name));
}

/** The table on a single node, and the Distributed table on a cluster. */
const CREATED_TABLE = /^CREATE TABLE IF NOT EXISTS (\w+) /gm;

/**
 * On a cluster all files are sent again, because a node that was added or replaced has none of the tables yet. Throws a
 * `MigrationError` with the file and the statement that failed.
 */
export async function applyFiles(
  clickhouse: ClickHouse,
  cluster: string | undefined,
  files: readonly SchemaFile[],
  pending: readonly SchemaFile[],
): Promise<void> {
  for (const file of cluster === undefined ? pending : files) {
    await applyFile(clickhouse, cluster, file);
    if (pending.includes(file)) await record(clickhouse, file);
  }
}

async function applyFile(
  clickhouse: ClickHouse,
  cluster: string | undefined,
  { name, text }: SchemaFile,
): Promise<void> {
  const statements = renderStatements(text, cluster);
  for (const [index, statement] of statements.entries()) {
    try {
      await clickhouse.command(statement);
    } catch (error) {
      throw new MigrationError(
        `migration ${name} could not be applied to ${STORE}, statement ${index + 1} of ${statements.length}: ${failureReason(error)}. ` +
          'No data is lost. Remove the cause and start again: the migration is repeated from its first statement (docs/how-to/operations.md)',
        { cause: error },
      );
    }
  }
}

async function record(clickhouse: ClickHouse, { name, checksum }: SchemaFile): Promise<void> {
  const rows = Buffer.from(`${JSON.stringify([name, checksum])}\n`);
  await clickhouse.insertRows({ table: 'schema_migrations', columns: ['name', 'checksum'], rows });
}
