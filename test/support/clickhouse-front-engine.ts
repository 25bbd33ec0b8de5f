/**
 * Runs the statements of the HTTP front on chDB. Every statement has its own connection, so that settings,
 * parameters and leftovers of failed queries do not affect other statements.
 *
 * As a cluster it simulates two shards in one engine: `Distributed` tables are real and read two local shards,
 * and a filter gives each shard its rows by the sharding key. Replication and Keeper are not simulated:
 * `ON CLUSTER` and `Replicated` are removed from the DDL.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { drainPending, Session } from 'chdb';
import { isSingleStatement } from '../../src/embedded/single-statement.ts';
import { stringLiteral } from '../../src/metering/client/clickhouse-parameters.ts';

/** A statement with the options that a server gets beside it. */
export interface FrontStatement {
  readonly sql: string;
  /** The rows of an INSERT that come apart from it. */
  readonly data: Buffer | null;
  readonly database: string;
  readonly defaultFormat: string;
  readonly settings: ReadonlyMap<string, string>;
  readonly params: ReadonlyMap<string, string>;
  /** Tables that came with it. */
  readonly tables: readonly FrontTable[];
}

interface FrontTable {
  readonly name: string;
  readonly structure: string;
  readonly format: string;
  readonly rows: Buffer;
}

export interface FrontResult {
  readonly bytes: Uint8Array;
  readonly readRows: number;
  readonly writtenRows: number;
}

export interface FrontEngine {
  run(statement: FrontStatement): Promise<FrontResult>;
  close(): Promise<void>;
}

const SHARDS = 2;
const PORT_OF_NOBODY = 9000;

export async function openFrontEngine(directory: string, cluster: string | undefined): Promise<FrontEngine> {
  const data = join(directory, 'data');
  await mkdir(data, { recursive: true });
  const configuration = join(directory, 'engine.xml');
  await writeFile(configuration, engineConfiguration(directory, cluster));
  const anchor = new Session(data, { connectionArgs: [`--config-file=${configuration}`] });
  /** By database. */
  const shardFilters = new Map<string, Promise<string>>();
  const filtersOf = (database: string) => {
    const known = shardFilters.get(database) ?? readShardFilters(anchor, database);
    shardFilters.set(database, known);
    return known;
  };
  return {
    async run(sent) {
      const session = new Session(data);
      const { statement, remove } = await withTables(join(directory, 'user-files'), sent);
      try {
        if (cluster === undefined) {
          await prepare(session, statement);
          return await runStatement(session, statement);
        }
        if (isDefinition(statement.sql)) {
          await prepare(session, statement);
          const definition = { ...statement, sql: withoutReplication(statement.sql) };
          const result = await runStatement(session, definition);
          // Forgotten afterwards: what another statement reads while this one runs may lack the new table.
          shardFilters.clear();
          return result;
        }
        await prepare(session, statement, await filtersOf(statement.database));
        return await runStatement(session, statement);
      } finally {
        session.close();
        await remove();
      }
    },
    async close() {
      anchor.close();
      await drainPending();
    },
  };
}

/** A server makes a temporary table of each; here a file stands in its place. */
async function withTables(
  folder: string,
  sent: FrontStatement,
): Promise<{ readonly statement: FrontStatement; remove(): Promise<void> }> {
  const files = sent.tables.map((table) => ({ ...table, path: join(folder, `table-${randomUUID()}`) }));
  if (files.length > 0) await mkdir(folder, { recursive: true });
  await Promise.all(files.map(({ path, rows }) => writeFile(path, rows)));
  const sql = files.reduce(
    (text, { name, path, format, structure }) =>
      text.replaceAll(
        new RegExp(`\\b${identifier(name)}\\b`, 'g'),
        () => `file(${[path, format, structure].map(stringLiteral).join(', ')})`,
      ),
    sent.sql,
  );
  return {
    statement: { ...sent, sql },
    async remove() {
      await Promise.all(files.map(({ path }) => rm(path, { force: true })));
    },
  };
}

function engineConfiguration(directory: string, cluster: string | undefined): string {
  const path = (name: string) => `${join(directory, name)}/`;
  const shard = `<shard><replica><host>127.0.0.1</host><port>${PORT_OF_NOBODY}</port></replica></shard>`;
  const servers = `<tcp_port>${PORT_OF_NOBODY}</tcp_port>
  <remote_servers><${cluster}>${shard.repeat(SHARDS)}</${cluster}></remote_servers>`;
  return `<clickhouse>
  <tmp_path>${path('tmp')}</tmp_path>
  <user_files_path>${path('user-files')}</user_files_path>
  <backups><allowed_path>${path('backups')}</allowed_path></backups>
  ${cluster === undefined ? '' : servers}
</clickhouse>
`;
}

/** Database, settings and parameters of the statement, and the filters that make a shard of a table. */
async function prepare(session: Session, statement: FrontStatement, filters = ''): Promise<void> {
  const { sql, database, settings, params } = statement;
  // A server does not take `1 + 1` for a query.
  const assignments = ['implicit_select = 0'];
  for (const [name, value] of settings) {
    if (name !== 'readonly') assignments.push(`${identifier(name)} = ${stringLiteral(value)}`);
  }
  for (const [name, value] of params) assignments.push(`param_${identifier(name)} = ${stringLiteral(value)}`);
  if (filters !== '') assignments.push(`additional_table_filters = {${filters}}`);
  // The size of this very text is not what a server would limit, and neither is the data of an INSERT.
  const limit = isInsert(sql) ? '0' : (settings.get('max_query_size') ?? DEFAULT_QUERY_SIZE_MAX);
  assignments.push(`max_query_size = ${Number(limit)}`);
  // Takes effect after all others, which it would forbid.
  const readonly = settings.get('readonly') ?? '0';
  if (readonly !== '0') assignments.push(`readonly = ${Number(readonly)}`);
  await session.queryAsync(`USE \`${database}\`; SET max_query_size = 1000000000`);
  await session.queryAsync(`SET ${assignments.join(', ')}`);
}

const DEFAULT_QUERY_SIZE_MAX = '262144';

function identifier(name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    throw new Error(
      `Code: 115. DB::Exception: Setting ${name} is neither a builtin setting nor started with the prefix 'SQL_'. (UNKNOWN_SETTING)`,
    );
  }
  return name;
}

const RAW_INSERT =
  /^\s*INSERT\s+INTO\s+(?:TABLE\s+)?(?<table>[\w.`]+)\s*(?:\((?<columns>[^()]*)\))?\s*FORMAT\s+(?<format>JSONEachRow|JSONCompactEachRow|CSV|TabSeparated)\s*$/i;

async function runStatement(session: Session, statement: FrontStatement): Promise<FrontResult> {
  const { sql, data, database } = statement;
  if (data === null) await requireSingleStatement(session, sql);
  const binary = data === null ? null : BINARY_INSERT.exec(sql)?.groups;
  if (data !== null && binary != null) return await insertBinary(session, statement, binary, data);
  const { table, columns, format } = RAW_INSERT.exec(sql)?.groups ?? {};
  if (data !== null && table !== undefined && isRawFormat(format)) {
    if (data.length === 0) return { bytes: new Uint8Array(), readRows: 0, writtenRows: 0 };
    const summary = await session.insert({
      table: table.includes('.') ? table : `${database}.${table}`,
      ...(columns === undefined ? {} : { columns: columns.split(',').map((name) => name.trim()) }),
      values: data,
      format,
    });
    return { bytes: new Uint8Array(), readRows: summary.rowsWritten, writtenRows: summary.rowsWritten };
  }
  const text = data === null || data.length === 0 ? sql : `${sql}\n${data.toString('utf8')}`;
  const result = await session.queryAsync(text, { format: statement.defaultFormat });
  return { bytes: result.bytes(), readRows: result.rowsRead, writtenRows: 0 };
}

const BINARY_INSERT =
  /^\s*INSERT\s+INTO\s+(?<table>[\w.]+)\s*\((?<columns>[^()]*)\)\s*FORMAT\s+(?<format>RowBinary|Native)\s*$/i;

/** chDB takes binary rows from a file only, and needs the types of the columns, which a server looks up. */
async function insertBinary(
  session: Session,
  { database }: FrontStatement,
  { table = '', columns = '', format = '' }: Record<string, string>,
  data: Buffer,
): Promise<FrontResult> {
  const described = await session.queryAsync(
    `SELECT name, type FROM system.columns WHERE database = ${stringLiteral(database)} AND table = ${stringLiteral(table)} FORMAT JSONCompact`,
  );
  const types = new Map((JSON.parse(described.text()) as { data: [string, string][] }).data);
  const structure = columns.split(',').map((name) => `${name.trim()} ${types.get(name.trim())}`);
  const path = join(session.path, '..', 'user-files', `rows-${randomUUID()}`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, data);
  try {
    await session.queryAsync(
      `INSERT INTO ${database}.${table} (${columns}) SELECT * FROM file(${stringLiteral(path)}, ${stringLiteral(format)}, ${stringLiteral(structure.join(', '))})`,
    );
  } finally {
    await rm(path, { force: true });
  }
  return { bytes: new Uint8Array(), readRows: 0, writtenRows: 0 };
}

function isRawFormat(
  format: string | undefined,
): format is 'JSONEachRow' | 'JSONCompactEachRow' | 'CSV' | 'TabSeparated' {
  return ['JSONEachRow', 'JSONCompactEachRow', 'CSV', 'TabSeparated'].includes(format ?? '');
}

/** chDB runs every statement of a text; a server refuses a second one. ClickHouse's own parser judges. */
async function requireSingleStatement(session: Session, sql: string): Promise<void> {
  if (!sql.includes(';')) return;
  if (isInsert(sql)) {
    // The parser takes all that follows VALUES for data.
    if (isSingleStatement(sql)) return;
    throw new Error('Code: 62. DB::Exception: Cannot read data after semicolon. (SYNTAX_ERROR)');
  }
  await session.queryAsync(`SELECT formatQuerySingleLine(${stringLiteral(sql)})`);
}

const COMMENTS = /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)*/;

function isInsert(sql: string): boolean {
  return /^INSERT\b/i.test(sql.replace(COMMENTS, ''));
}

function isDefinition(sql: string): boolean {
  return /^(?:CREATE|ALTER|DROP|TRUNCATE|OPTIMIZE|SYSTEM|RENAME)\b/i.test(sql.replace(COMMENTS, ''));
}

/** Without the parts that need Keeper. A table whose replicas could not find each other is refused. */
function withoutReplication(sql: string): string {
  return sql
    .replace(/\sON\s+CLUSTER\s+(?:'[^']+'|\w+)/i, ' ')
    .replace(/\bReplicated(\w*MergeTree)\s*(\([^()]*\))?/, (_, engine: string, parameters = '') => {
      const own = /^\('\/[^']*\{shard\}[^']*', '\{replica\}'(?:, )?([^()]*)\)$/.exec(parameters)?.[1];
      if (own === undefined)
        throw new Error(`Code: 36. DB::Exception: no replica path in ${engine}. (BAD_ARGUMENTS)`);
      return `${engine}(${own})`;
    });
}

/**
 * For each local table of a Distributed table of the database, the rows that this shard has. Other databases: all rows.
 */
async function readShardFilters(session: Session, database: string): Promise<string> {
  const result = await session.queryAsync(
    `SELECT engine_full FROM system.tables
     WHERE engine = 'Distributed' AND database = ${stringLiteral(database)} FORMAT TSVRaw`,
  );
  const engines = result.text().split('\n').filter(Boolean);
  return engines
    .map((engine) => {
      const [, local, table, key] = /^Distributed\('\w+', '(\w+)', '(\w+)', (.*)\)$/.exec(engine) ?? [];
      if (local === undefined || table === undefined || key === undefined)
        throw new Error(`cannot read the sharding key of ${engine}`);
      return `${stringLiteral(`${local}.${table}`)}: ${stringLiteral(`shardNum() IN (0, 1 + ${key} % ${SHARDS})`)}`;
    })
    .join(', ');
}
