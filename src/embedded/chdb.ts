/**
 * ClickHouse inside this process: chDB, reached through `@clickhouse/client` like a server.
 *
 * A connection of the engine runs one query at a time, so there are several, by purpose: a pool for
 * queries, one for inserts, one for DDL and one for pings. None waits for another's work. The engine's
 * calls run on Node's worker threads, so the pool leaves some of those free.
 *
 * Settings that are sent with a query stick to its connection; therefore only the ones that are meant
 * to stay are set, once, when it is opened. Query connections are read-only for good: whatever text
 * reaches them cannot write.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import {
  type ClickHouseClient,
  type ClickHouseClientConfigOptions,
  ClickHouseError,
  createClient,
  parseError,
} from '@clickhouse/client';
import type { ChdbConnection } from 'chdb/connection';
import { assert } from '../core/errors.ts';
import type { ClickHouse } from '../metering/clickhouse.ts';
import type { BackendSelect, ClickHouseBackend } from '../metering/clickhouse-client.ts';
import { type ConnectionPool, createConnectionPool } from './connection-pool.ts';
import { isSingleStatement } from './single-statement.ts';

/** The engine cannot be started. The message is one line for the operator. */
export class EmbeddedClickHouseError extends Error {
  override readonly name = 'EmbeddedClickHouseError';
}

export interface EmbeddedClickHouseOptions {
  /** The engine's own directory: nothing is written outside it. One process at a time. */
  readonly directory: string;
  /** Created where it does not exist. */
  readonly database?: string;
  /** Node's worker threads (UV_THREADPOOL_SIZE). */
  readonly workerThreads?: number;
}

interface Connection {
  readonly client: ClickHouseClient;
  readonly raw: ChdbConnection;
  /** Parameters that earlier queries left behind on it. */
  readonly parameterNames: Set<string>;
}

/** Node's own default; `npm start` sets more. */
const DEFAULT_WORKER_THREADS = 4;
/** Kept free of queries: one for an insert, one for a ping, DDL, or Node's own file work. */
const RESERVED_WORKER_THREADS = 2;
/** Enough that a few slow queries do not hold up the quick ones, also on two cores. */
const QUERY_CONNECTIONS_AIM = 4;
/** Parameters travel in the text of the query; a list of 100,000 customer ids is 4 MB. */
const QUERY_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Opens the engine. Throws `EmbeddedClickHouseError` where the optional package is not installed, the
 * directory cannot be used, or another process has it.
 */
export async function openEmbeddedClickHouse(options: EmbeddedClickHouseOptions): Promise<ClickHouseBackend> {
  const database = options.database ?? 'tallyhouse';
  assert(/^[A-Za-z_][A-Za-z0-9_]*$/.test(database), `database name ${database}`);
  const engine = await openEngine(options.directory);
  const open = async (...statements: readonly string[]): Promise<Connection> => {
    const connection = engine.connect();
    for (const sql of [`USE ${database}`, ...statements]) await connection.raw.chdb.queryAsync(sql);
    return connection;
  };
  await engine.anchor.queryAsync(`CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic`);
  const readOnly = [`SET max_query_size = ${QUERY_BYTES_MAX}`, 'SET readonly = 2'];
  const queryConnections = queryConnectionCount(options.workerThreads ?? DEFAULT_WORKER_THREADS);
  const all = await Promise.all([
    open(),
    open(),
    open(...readOnly),
    ...Array.from({ length: queryConnections }, () => open(...readOnly)),
  ]);
  const [inserts, statements, pings, ...queries] = all;
  const pools = {
    inserts: createConnectionPool([inserts]),
    statements: createConnectionPool([statements]),
    pings: createConnectionPool([pings]),
    queries: createConnectionPool(queries),
  };
  return {
    select: (query) => pools.queries.withConnection((connection) => select(connection, query)),
    command: (sql) => pools.statements.withConnection((connection) => command(connection, sql)),
    insertRows: (insert) => insertRows(pools.inserts, database, insert),
    ping: () =>
      pools.pings.withConnection(async (connection) => {
        await connection.client.command({ query: 'SELECT 1' });
      }),
    close: async () => {
      await Promise.all(Object.values(pools).map((pool) => pool.drain()));
      await Promise.all(all.map((connection) => connection.client.close()));
      await engine.close();
    },
  };
}

/** How many queries run side by side with this many worker threads. */
export function queryConnectionCount(workerThreads: number): number {
  const aim = Math.max(QUERY_CONNECTIONS_AIM, availableParallelism());
  return Math.max(1, Math.min(aim, workerThreads - RESERVED_WORKER_THREADS));
}

async function select(connection: Connection, query: BackendSelect): Promise<AsyncIterable<unknown>> {
  const { sql, params } = query;
  requireSingleStatement(sql);
  for (const name of connection.parameterNames) {
    // A value that an earlier query left behind must not stand in for one that was forgotten.
    if (!Object.hasOwn(params, name) && sql.includes(`{${name}:`)) throw unsetParameter(name);
  }
  for (const name of Object.keys(params)) connection.parameterNames.add(name);
  const result = await connection.client.exec({ query: `${query.parameterStatement()}${sql}` });
  return result.stream;
}

async function command(connection: Connection, sql: string): Promise<void> {
  requireSingleStatement(sql);
  await connection.client.command({ query: sql });
}

async function insertRows(
  pool: ConnectionPool<Connection>,
  database: string,
  insert: Parameters<ClickHouse['insertRows']>[0],
): Promise<void> {
  if (insert.rows.length === 0) return;
  await pool.withConnection(async ({ raw }) => {
    try {
      // The client would join statement and rows into one string; this hands the bytes over as they are.
      await raw.chdb.rawInsert({
        table: `${database}.${insert.table}`,
        columns: [...insert.columns],
        values: insert.rows,
        format: 'JSONCompactEachRow',
      });
    } catch (error) {
      throw error instanceof Error ? withEngineCode(error) : error;
    }
  });
}

/** The engine's error as the client reports a server's: with its code and type. */
function withEngineCode(error: Error): Error {
  const text = error.message.replace(/^(?:Code: \d+\. DB::Exception: )+(?=Code: )/, '');
  const parsed = parseError(text);
  parsed.cause = error;
  return parsed;
}

function requireSingleStatement(sql: string): void {
  if (isSingleStatement(sql)) return;
  throw new ClickHouseError({
    message: 'Multi-statements are not allowed',
    code: '62',
    type: 'SYNTAX_ERROR',
  });
}

function unsetParameter(name: string): ClickHouseError {
  const message = `Substitution \`${name}\` is not set`;
  return new ClickHouseError({ message, code: '456', type: 'UNKNOWN_QUERY_PARAMETER' });
}

interface Engine {
  /** Holds the engine open and has no settings of its own. */
  readonly anchor: { queryAsync(sql: string): Promise<unknown> };
  connect(): Connection;
  close(): Promise<void>;
}

async function openEngine(directory: string): Promise<Engine> {
  const { chdb, connections } = await loadEngine();
  const data = join(directory, 'data');
  await mkdir(data, { recursive: true, mode: 0o700 });
  const configuration = join(directory, 'engine.xml');
  await writeFile(configuration, engineConfiguration(directory));
  try {
    // The first connection starts the engine, so it is the one that carries the configuration.
    const anchor = new chdb.Session(data, { connectionArgs: [`--config-file=${configuration}`] });
    return {
      anchor,
      connect: () => {
        const raw = connections.createChdbConnection({ path: data });
        // The same contract, declared once by each package: only optional members are written differently.
        const connection = raw as unknown as NonNullable<ClickHouseClientConfigOptions['connection']>;
        return { raw, client: createClient({ connection }), parameterNames: new Set() };
      },
      close: async () => {
        anchor.close();
        await chdb.drainPending();
      },
    };
  } catch (error) {
    throw new EmbeddedClickHouseError(
      `cannot open the embedded ClickHouse in ${directory}: ${firstLine(error)}`,
    );
  }
}

async function loadEngine() {
  try {
    const [chdb, connections] = await Promise.all([import('chdb'), import('chdb/connection')]);
    return { chdb, connections };
  } catch (error) {
    throw new EmbeddedClickHouseError(
      `the embedded ClickHouse (package chdb) cannot be loaded here; set CLICKHOUSE_URL to use a server: ${firstLine(error)}`,
    );
  }
}

/**
 * Keeps every path inside the directory, and is named explicitly because the engine would otherwise
 * read a config.xml from wherever the process was started. Half of the memory belongs to the rest of
 * the process; the caches are sized for a machine of a few gigabytes rather than for a server.
 */
function engineConfiguration(directory: string): string {
  const path = (name: string) => `${escapeXml(join(directory, name))}/`;
  return `<clickhouse>
  <tmp_path>${path('tmp')}</tmp_path>
  <user_files_path>${path('user-files')}</user_files_path>
  <format_schema_path>${path('format-schemas')}</format_schema_path>
  <max_server_memory_usage_to_ram_ratio>0.5</max_server_memory_usage_to_ram_ratio>
  <mark_cache_size>268435456</mark_cache_size>
  <primary_index_cache_size>268435456</primary_index_cache_size>
</clickhouse>
`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1).join('');
}
