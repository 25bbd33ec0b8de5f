/**
 * ClickHouse inside this process: chDB, accessed through `@clickhouse/client` like a server.
 *
 * A connection of the engine runs one query at a time, so there are several, by purpose: a pool for each lane of
 * queries, and one connection each for inserts, DDL and pings. None waits for another's work. The engine's calls run on
 * Node's worker threads, so slow queries leave some of those free.
 *
 * Settings sent with a query persist on its connection; therefore only permanent ones are set, once, when it is opened.
 * Query connections are permanently read-only: no statement on them changes a table. Files are not covered by that; the
 * check of analysts' SQL (metering/sql-metric) prevents access to them.
 */
import { mkdir, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { ClickHouseError } from '@clickhouse/client';
import { assert } from '../core/errors.ts';
import { memoryOfProcess } from '../core/process-memory.ts';
import { QUERY_LANES, type QueryLane, type RowsInsert } from '../metering/client/clickhouse.ts';
import type {
  BackendSelect,
  BackendStream,
  ClickHouseBackend,
} from '../metering/client/clickhouse-client.ts';
import { stringLiteral } from '../metering/client/clickhouse-parameters.ts';
import { type ConnectionPool, createConnectionPool } from '../metering/client/connection-pool.ts';
import { createLanes, type QueryLanes } from '../metering/client/query-lanes.ts';
import { structureOf, withTableNames } from '../metering/client/sent-tables.ts';
import { createStreamedAnswers } from '../metering/client/streamed-answers.ts';
import { writeBlocks } from './answer-blocks.ts';
import { writeAnswer } from './answer-file.ts';
import { type EngineConnection, openEngine, USER_FILES } from './chdb-engine.ts';
import { withEngineCode } from './engine-error.ts';
import { isSingleStatement } from './single-statement.ts';
import { writeFileAtOnce } from './write-whole.ts';

export interface EmbeddedClickHouseOptions {
  /** The engine's own directory: nothing is written outside it. One process at a time. */
  readonly directory: string;
  /** Created if it does not exist. */
  readonly database?: string;
  /** Node's worker threads (UV_THREADPOOL_SIZE). */
  readonly workerThreads?: number;
}

/** A place in a pool. */
interface Slot {
  connection: EngineConnection;
  /** Parameters left on the connection by earlier queries. */
  parameterNames: Set<string>;
  open(): Promise<EngineConnection>;
}

/** Node's own default; `npm start` sets more. */
const DEFAULT_WORKER_THREADS = 4;
/** Reserved from slow queries: for an insert, the reads of ingest, a ping or DDL, and Node's own file work. */
const RESERVED_WORKER_THREADS = 4;
/** With at least this many worker threads, jobs and analysts have two connections each. */
const MANY_WORKER_THREADS = 12;
/** One query across customers at a time. */
const REPORT_CONNECTIONS = 1;
/** Enough that a few slow queries do not delay the quick ones, also on two cores. */
const REQUEST_CONNECTIONS_AIM = 4;
/** Parameters are part of the query text; a list of 100,000 customer ids is 4 MB. */
const QUERY_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Opens the engine. Throws `EmbeddedClickHouseError` if the optional package is not installed, the directory cannot be
 * used, or another process has it.
 */
export async function openEmbeddedClickHouse(options: EmbeddedClickHouseOptions): Promise<ClickHouseBackend> {
  const database = options.database ?? 'tallyhouse';
  assert(/^[A-Za-z_][A-Za-z0-9_]*$/.test(database), `database name ${database}`);
  const engine = await openEngine(options.directory);
  await engine.run(`CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic`);
  const makeSlot = async (...settings: readonly string[]): Promise<Slot> => {
    const open = async () => {
      const connection = engine.connect();
      // Without the extension that accepts `1 + 1` as a query, the engine reports errors like a server.
      for (const sql of [`USE ${database}`, 'SET implicit_select = 0', ...settings]) {
        await connection.client.command({ query: sql });
      }
      return connection;
    };
    return { connection: await open(), parameterNames: new Set(), open };
  };
  const forQueries = [`SET max_query_size = ${QUERY_BYTES_MAX}`, ...settingsOfMemory(), 'SET readonly = 2'];
  const counts = laneConnections(options.workerThreads ?? DEFAULT_WORKER_THREADS);
  const [inserts, statements, pings] = await Promise.all([makeSlot(), makeSlot(), makeSlot()]);
  const laneSlots = await slotsOfLanes(counts, (lane) => makeSlot(...forQueries, ...settingsOfLane(lane)));
  const pools = {
    inserts: createConnectionPool([inserts]),
    statements: createConnectionPool([statements]),
    pings: createConnectionPool([pings]),
  };
  const files = await rowFiles(options.directory, database);
  const endQueries = (condition: string) =>
    use(pools.pings, (slot) => command(slot, `${END_QUERIES} AND ${condition} ASYNC`));
  const answers = createStreamedAnswers();
  const lanes = createLanes(laneSlots, {
    endQueries: async () => {
      answers.end();
      await endQueries('current_database = currentDatabase()');
    },
  });
  const run = (query: BackendSelect) => inLane(lanes, files, query, select);
  return {
    select: run,
    stream: (query) =>
      answers.read(
        (to) =>
          query.format === 'Native'
            ? inLane(lanes, files, query, (slot, own) => blocks(slot, own, to))
            : writeAnswer({ path: newFile(files), query, run, endQueries }, to),
        query.signal,
      ),
    command: (sql) => use(pools.statements, (slot) => command(slot, sql)),
    insertRows: (insert) => use(pools.inserts, (slot) => insertRows(slot, database, insert, files)),
    ping: () => use(pools.pings, (slot) => command(slot, 'SELECT 1')),
    laneFigures: lanes.figures,
    cancelQueries: lanes.cancel,
    close: async () => {
      await lanes.drain();
      await Promise.all(Object.values(pools).map((pool) => pool.drain()));
      const slots = [inserts, statements, pings, ...Object.values(laneSlots).flat()];
      await Promise.all(slots.map((slot) => slot.connection.client.close()));
      await engine.close();
    },
  };
}

/**
 * Works with a free connection, and replaces it if the work fails, because the partial output of a failed query stays
 * on its connection and would be prepended to the result of the next query.
 */
async function use<T>(
  pool: ConnectionPool<Slot>,
  work: (slot: Slot) => Promise<T>,
  customer?: string,
): Promise<T> {
  return await pool.withConnection(async (slot) => {
    try {
      return await work(slot);
    } catch (error) {
      const spoiled = slot.connection;
      slot.connection = await slot.open();
      slot.parameterNames = new Set();
      await spoiled.client.close();
      throw withEngineCode(error);
    }
  }, customer);
}

/** The number of concurrent queries of each lane with this many worker threads. */
export function laneConnections(workerThreads: number): Record<QueryLane, number> {
  const few = workerThreads < MANY_WORKER_THREADS ? 1 : 2;
  const aim = Math.max(REQUEST_CONNECTIONS_AIM, availableParallelism());
  const room = workerThreads - RESERVED_WORKER_THREADS - 3 * few - REPORT_CONNECTIONS;
  const requests = Math.max(1, Math.min(aim, room));
  return {
    requests,
    finalization: few,
    // Urgent work does not wait for other work.
    evaluation: few,
    analysis: few,
    reports: REPORT_CONNECTIONS,
    verification: 1,
    ingest: 1,
  };
}

/**
 * Evaluations and invoice runs leave half of the cores to ingest and to requests, and to the process itself, which
 * rates one group of invoices while the next is read. They query customers all over the table, so it pays to read the
 * columns of the sorting key first, and the others for the remaining rows. The engine moves no condition on another
 * column before FINAL; its version is known, unlike that of a server.
 */
function settingsOfLane(lane: QueryLane): string[] {
  if (lane !== 'evaluation' && lane !== 'finalization') return [];
  const cores = Math.max(1, Math.floor(availableParallelism() / 2));
  return [`SET max_threads = ${cores}`, 'SET optimize_move_to_prewhere_if_final = 1'];
}

/** Groups and orders that exceed this share of memory spill to disk: several queries run at once. */
const SPILL_SHARE = 16;

function settingsOfMemory(): string[] {
  const bytes = Math.floor(memoryOfProcess() / SPILL_SHARE);
  return [
    `SET max_bytes_before_external_group_by = ${bytes}`,
    `SET max_bytes_before_external_sort = ${bytes}`,
  ];
}

async function slotsOfLanes(
  counts: Readonly<Record<QueryLane, number>>,
  makeSlot: (lane: QueryLane) => Promise<Slot>,
): Promise<Record<QueryLane, Slot[]>> {
  const lanes = await Promise.all(
    QUERY_LANES.map(async (lane) => {
      const slots = await Promise.all(Array.from({ length: counts[lane] }, () => makeSlot(lane)));
      return [lane, slots] as const;
    }),
  );
  return Object.fromEntries(lanes) as Record<QueryLane, Slot[]>;
}

/** Only SELECTs are cancelled; an insert continues. */
const END_QUERIES = "KILL QUERY WHERE query_kind = 'Select'";

function requireRunnable(slot: Slot, { sql, params }: BackendSelect): void {
  requireSingleStatement(sql);
  for (const name of slot.parameterNames) {
    // A value left by an earlier query must not replace a missing parameter.
    if (!Object.hasOwn(params, name) && sql.includes(`{${name}:`)) throw unsetParameter(name);
  }
  for (const name of Object.keys(params)) slot.parameterNames.add(name);
}

async function select(slot: Slot, query: BackendSelect): Promise<AsyncIterable<unknown>> {
  const { sql } = query;
  requireRunnable(slot, query);
  const result = await slot.connection.client.exec({ query: `${query.parameterStatement()}${sql}` });
  return result.stream;
}

async function blocks(slot: Slot, query: BackendStream, to: Writable): Promise<void> {
  requireRunnable(slot, query);
  await writeBlocks(slot.connection, query, to);
}

async function command(slot: Slot, sql: string): Promise<void> {
  requireSingleStatement(sql);
  await slot.connection.client.command({ query: sql });
}

async function insertRows(slot: Slot, database: string, insert: RowsInsert, files: RowFiles): Promise<void> {
  if (insert.rows.length === 0) return;
  if (insert.types !== undefined) {
    await insertBinary(slot, database, { ...insert, types: insert.types }, files);
    return;
  }
  // The client would join statement and rows into one string; this passes the bytes as they are.
  await slot.connection.raw.chdb.rawInsert({
    table: `${database}.${insert.table}`,
    columns: [...insert.columns],
    values: insert.rows,
    format: 'JSONCompactEachRow',
    // Deduplicating keys within one insert takes time and finds nothing; reading uses FINAL.
    settings: { optimize_on_insert: 0 },
  });
}

/** Files of rows being inserted, and of answers being read. */
interface RowFiles {
  readonly directory: string;
  next: number;
}

/**
 * A directory for each database, because tests open several on one engine. Files left by a killed process are removed.
 */
async function rowFiles(directory: string, database: string): Promise<RowFiles> {
  const files = resolve(directory, USER_FILES, database);
  await rm(files, { recursive: true, force: true });
  await mkdir(files, { recursive: true });
  return { directory: files, next: 0 };
}

function newFile(files: RowFiles): string {
  files.next += 1;
  return join(files.directory, `file-${files.next}`);
}

/** Runs a statement with a connection of its lane. */
function inLane<Query extends BackendSelect, Answer>(
  lanes: QueryLanes<Slot>,
  files: RowFiles,
  query: Query,
  work: (slot: Slot, query: Query) => Promise<Answer>,
): Promise<Answer> {
  return withTables(files, query, (own) =>
    lanes.run(own, (pool, customer) => use(pool, (slot) => work(slot, own), customer)),
  );
}

/** Runs a statement with tables that it reads as files. */
async function withTables<Query extends BackendSelect, Answer>(
  files: RowFiles,
  query: Query,
  run: (query: Query) => Promise<Answer>,
): Promise<Answer> {
  if (query.tables.length === 0) return await run(query);
  const paths = query.tables.map(() => newFile(files));
  try {
    await Promise.all(query.tables.map(({ rows }, index) => writeFileAtOnce(paths[index] ?? '', rows)));
    const sql = withTableNames(query.sql, query.tables, (table, index) => {
      const place = [paths[index] ?? '', 'TabSeparated', structureOf(table)].map(stringLiteral);
      return `file(${place.join(', ')})`;
    });
    return await run({ ...query, sql, tables: [] });
  } finally {
    await Promise.all(paths.map((path) => rm(path, { force: true })));
  }
}

/** The engine's own interface accepts only texts, so it reads the rows from a file, which costs half as much. */
async function insertBinary(
  slot: Slot,
  database: string,
  { table, columns, types, rows }: Required<RowsInsert>,
  files: RowFiles,
): Promise<void> {
  const path = newFile(files);
  const structure = columns.map((column, index) => `${column} ${types[index]}`).join(', ');
  try {
    await writeFileAtOnce(path, rows);
    await slot.connection.client.command({
      query: `INSERT INTO ${database}.${table} (${columns.join(', ')})
        SELECT * FROM file(${stringLiteral(path)}, 'RowBinary', ${stringLiteral(structure)})
        SETTINGS optimize_on_insert = 0, max_threads = 1, max_insert_threads = 1`,
    });
  } finally {
    await rm(path, { force: true });
  }
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
