/** Loads a frozen state into empty stores: its tables and their rows. */
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { applySchema } from '../../src/metering/schema/schema.ts';
import { readSchemaFiles, renderStatements } from '../../src/metering/schema/schema-files.ts';
import { migrateDatabase } from '../../src/store/migrations/migrate.ts';
import {
  connectPostgres,
  type PostgresConnection,
} from '../../src/store/postgres-driver/connect-postgres.ts';
import {
  type FrozenFacts,
  type FrozenRows,
  readFrozenFacts,
  readFrozenRows,
  readFrozenSequences,
} from './frozen-state.ts';
import { clickhouseFolderOf, drizzleFolderOf } from './migration-folders.ts';

export async function loadFrozenState(
  name: string,
  stores: { readonly postgres: PostgresConnection; readonly clickhouse: ClickHouse },
): Promise<FrozenFacts> {
  const facts = await readFrozenFacts(name);
  await migrateDatabase(stores.postgres, await drizzleFolderOf(facts.migrations.postgres));
  await loadPostgres(name, stores.postgres);
  await createTables(stores.clickhouse, facts.migrations);
  for (const table of await readFrozenRows(name, 'clickhouse')) await loadTable(stores.clickhouse, table);
  return facts;
}

async function createTables(
  clickhouse: ClickHouse,
  { clickhouse: files, areRecorded }: FrozenFacts['migrations'],
): Promise<void> {
  const folder = await clickhouseFolderOf(files);
  if (areRecorded) return await applySchema(clickhouse, undefined, folder);
  for (const { text } of await readSchemaFiles(folder)) {
    for (const statement of renderStatements(text, undefined)) await clickhouse.command(statement);
  }
}

async function loadPostgres(name: string, connection: PostgresConnection): Promise<void> {
  const tables = await readFrozenRows(name, 'postgres');
  const sequences = await readFrozenSequences(name);
  const client = connectPostgres(connection, { max: 1, connection: { TimeZone: 'UTC' } });
  try {
    await client.begin(async (transaction) => {
      // The rows obeyed all foreign keys where they come from, whatever order they are loaded in.
      await transaction`set local session_replication_role = replica`;
      for (const { table, columns, rows } of tables) {
        const names = columns.map((column) => `"${column}"`).join(', ');
        const types = new Map(
          (
            await transaction<{ name: string; type: string }[]>`
              select attname as name, format_type(atttypid, atttypmod) as type
              from pg_attribute where attrelid = ${table}::regclass and attnum > 0`
          ).map(({ name, type }) => [name, type]),
        );
        const values = columns.map((column, index) => `(line ->> ${index})::${types.get(column)}`).join(', ');
        await transaction.unsafe(
          `insert into "${table}" (${names}) overriding system value
           select ${values} from json_array_elements($1::text::json) as line`,
          [`[${rows.join(',')}]`],
        );
      }
      for (const [sequence, last] of Object.entries(sequences)) {
        await transaction`select setval(${sequence}::regclass, ${last}::bigint)`;
      }
    });
  } finally {
    await client.end();
  }
}

/**
 * When a row was written is the clock of the server, by which ClickHouse throws repeats away: they are
 * loaded as if they had been written now.
 */
const WRITTEN_BY_THE_SERVER = 'written_at';

async function loadTable(clickhouse: ClickHouse, { table, columns, rows }: FrozenRows): Promise<void> {
  const kept = columns.flatMap((column, index) => (column === WRITTEN_BY_THE_SERVER ? [] : [index]));
  const lines = rows.map((row) => {
    const values: unknown[] = JSON.parse(row);
    return kept.length === columns.length ? row : JSON.stringify(kept.map((index) => values[index]));
  });
  await clickhouse.insertRows({
    table,
    columns: columns.filter((column) => column !== WRITTEN_BY_THE_SERVER),
    rows: Buffer.from(lines.map((line) => `${line}\n`).join('')),
  });
}
