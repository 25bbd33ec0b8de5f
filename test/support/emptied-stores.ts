/**
 * Databases that are handed on within a process: emptied when one test file or service is done with them, and given to
 * the next. Making a database takes a third of a second of computing, and many tests take less.
 *
 * A database in which more was changed than its rows is not handed on: one with other tables, triggers, settings,
 * locks, sessions at work, mutations or damaged parts.
 */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import type { Database } from '../../src/store/base/database.ts';

/** A database that is open and not in use costs memory and connections. */
const KEPT_MAX = 2;
/** Dropping a database takes less than emptying it of more rows, whose space it would keep. */
const ROWS_MAX = 5_000;

export interface Emptied<Store> {
  /** One that is empty and was never changed otherwise, or undefined. */
  take(): Store | undefined;
  /** Keeps it, if it can be emptied and there is room. False: the caller has to remove it. */
  give(store: Store): Promise<boolean>;
}

/** `empty` says whether it has emptied a store of all that was done to it. */
export function createEmptied<Store>(empty: (store: Store) => Promise<boolean>): Emptied<Store> {
  const kept: Store[] = [];
  return {
    take: () => kept.pop(),
    async give(store) {
      const isEmpty = kept.length < KEPT_MAX && (await empty(store).catch(() => false));
      // Others may have been given meanwhile.
      if (!isEmpty || kept.length >= KEPT_MAX) return false;
      kept.push(store);
      return true;
    },
  };
}

/** Changes whenever tables, columns, triggers, functions, views or settings of the database do. */
const CATALOGUES = [
  ...[
    'class',
    'attribute',
    'attrdef',
    'constraint',
    'index',
    'trigger',
    'rewrite',
    'proc',
    'type',
    'namespace',
  ],
  ...['policy', 'extension', 'enum', 'sequence', 'db_role_setting', 'init_privs', 'default_acl'],
].map((name) => `(select count(*) || ':' || coalesce(max(xmin::text::bigint), 0) from pg_${name})`);

/** The tables of a PostgreSQL database, as far as they are not rows. */
export async function postgresSchema(db: Database): Promise<string> {
  const [row] = await db.execute<{ schema: string }>(
    sql.raw(`select concat_ws(' ', ${CATALOGUES.join(', ')}) as schema`),
  );
  return row?.schema ?? '';
}

const IN_USE = sql`
  select from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'
  union all
  select from pg_locks l join pg_database d on d.oid = l.database
  where d.datname = current_database() and l.locktype = 'advisory'`;

/** Without triggers, also those of references: all tables are emptied, in any order. */
const DELETE_ROWS = sql.raw(`do $$
declare
  name text;
  deleted bigint;
  total bigint := 0;
begin
  set local session_replication_role = replica;
  for name in select tablename from pg_tables where schemaname = 'public' loop
    execute format('delete from public.%I', name);
    get diagnostics deleted = row_count;
    total := total + deleted;
  end loop;
  if total > ${ROWS_MAX} then raise 'too many rows'; end if;
  perform setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
    from pg_sequences where schemaname = 'public' and last_value is not null;
end $$`);

/** Whether the database has no row any more, and the `schema` that it was created with. */
export async function emptyPostgres(db: Database, schema: string): Promise<boolean> {
  if ((await db.execute(IN_USE)).length > 0) return false;
  await db.execute(DELETE_ROWS);
  return (await postgresSchema(db)) === schema;
}

const tableRow = z.object({ name: z.string(), definition: z.string(), isUsed: z.coerce.boolean() });

/** The tables of an embedded ClickHouse, as far as they are not rows. */
export async function clickhouseSchema(clickhouse: ClickHouse): Promise<string> {
  return schemaOf(await tablesOf(clickhouse));
}

function tablesOf(clickhouse: ClickHouse): Promise<z.output<typeof tableRow>[]> {
  return clickhouse.query({
    sql: `SELECT name, replaceAll(create_table_query, currentDatabase(), '') AS definition,
        name IN (SELECT table FROM system.parts WHERE database = currentDatabase()) AS isUsed
      FROM system.tables WHERE database = currentDatabase() ORDER BY name`,
    schema: tableRow,
  });
}

function schemaOf(tables: readonly z.output<typeof tableRow>[]): string {
  return tables.map(({ definition }) => definition).join('\n');
}

/** The record of the migrations belongs to the schema. */
const KEPT_TABLE = 'schema_migrations';

/**
 * Whether the database has no event any more, and the `schema` that it was created with. Tables with rows are replaced
 * by those of the database `template`. TRUNCATE would leave an empty part, with which new parts are merged sooner than
 * in a new table; tests that read parts before they are merged would then not find them.
 */
export async function emptyClickHouse(
  clickhouse: ClickHouse,
  { schema, template }: { readonly schema: string; readonly template: string },
): Promise<boolean> {
  const figures = [...clickhouse.laneFigures().values()];
  if (figures.some(({ running, waiting }) => running + waiting > 0)) return false;
  const tables = await tablesOf(clickhouse);
  const changed = await clickhouse.query({
    sql: `SELECT database FROM system.mutations WHERE database = currentDatabase()
      UNION ALL SELECT database FROM system.detached_parts WHERE database = currentDatabase()`,
    schema: z.object({ database: z.string() }),
  });
  if (changed.length > 0 || schemaOf(tables) !== schema) return false;
  for (const { name, isUsed } of tables) {
    if (!isUsed || name === KEPT_TABLE) continue;
    await clickhouse.command(`DROP TABLE ${name} SYNC`);
    await clickhouse.command(`CREATE TABLE ${name} AS ${template}.${name}`);
  }
  return true;
}
