/**
 * The one interface through which the service reaches ClickHouse, embedded or remote.
 *
 * Contains types only. `clickhouse-client.ts` holds the code that both share, `clickhouse-remote.ts` the server
 * at a URL and `embedded/chdb.ts` the engine in this process. Failures of the engine arrive as
 * `ClickHouseError` of `@clickhouse/client`, with `code` (such as '62') and `type` (such as 'SYNTAX_ERROR').
 */
import type { z } from 'zod';
import type { PoolFigures } from './connection-pool.ts';
import type { SentTable } from './sent-tables.ts';

export type QueryParams = Readonly<Record<string, unknown>>;
export type QuerySettings = Readonly<Record<string, string | number>>;

/**
 * Which connections a query takes. Slow queries delay only those of the same lane:
 * - `requests`: drafts, breakdowns, usage and events that somebody asks for;
 * - `finalization`: usage that jobs compute invoices from;
 * - `evaluation`: drafts that are compared with thresholds;
 * - `analysis`: SQL metrics that are created or tried out, and their usage;
 * - `reports`: queries across customers;
 * - `verification`: the parse trees of statements that are about to run, milliseconds each;
 * - `ingest`: ids of known events, and the service's own checks.
 */
export const QUERY_LANES = [
  'requests',
  'finalization',
  'evaluation',
  'analysis',
  'reports',
  'verification',
  'ingest',
] as const;
export type QueryLane = (typeof QUERY_LANES)[number];

/** A SELECT: its text, the values of its `{name:Type}` placeholders and its own limits. */
export interface SelectStatement {
  readonly sql: string;
  readonly params?: QueryParams;
  /** Put into the query's own SETTINGS clause, over the defaults (`max_execution_time` among them). */
  readonly settings?: QuerySettings;
  /** Default: `requests`. */
  readonly lane?: QueryLane;
  /** Whose usage it reads, where that is one customer's: it then takes a limited share of the lane. */
  readonly customer?: string | undefined;
  /** Tables that it reads besides those of the database. */
  readonly tables?: readonly SentTable[] | undefined;
  /**
   * The customer references whose usage events it reads; `NO_EVENTS` (around.ts) if it reads none. It waits for acknowledged events of
   * these only. Absent: it may read events of anybody, and waits for all.
   */
  readonly eventsOf?: readonly string[] | undefined;
}

/** A SELECT without FORMAT and SETTINGS, whose answer is passed on while it is read. */
export interface StreamedSelect extends SelectStatement {
  /**
   * JSONEachRow and Parquet show their end in their bytes, so that an answer that breaks off does not look like a whole
   * one. Native does not: a server has all of such an answer before it sends the first piece. It is meant for bulk reads
   * of the service itself, whose statements are quick to plan.
   */
  readonly format: 'JSONEachRow' | 'Parquet' | 'Native';
  /** Of the reader: that it has gone while it waited. */
  readonly signal?: AbortSignal | undefined;
}

/** Rows to insert, as JSONCompactEachRow or, where the types of the columns are given, as RowBinary. */
export interface RowsInsert {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: Buffer;
  /** Of the columns in the rows; ClickHouse converts them to those of the table. */
  readonly types?: readonly string[];
}

export interface ClickHouse {
  /**
   * Rows of a SELECT that has no FORMAT and no SETTINGS. 64-bit integers and decimals arrive
   * as strings. To explain a query, select from it: `SELECT explain FROM (EXPLAIN AST …)`.
   */
  query<Row>(query: SelectStatement & { readonly schema: z.ZodType<Row> }): Promise<Row[]>;
  /** Raw result bytes of a SELECT that ends in its own `FORMAT x` (for bulk reads, such as RowBinary). */
  queryBytes(query: SelectStatement): Promise<Buffer>;
  /**
   * The bytes of an answer of any length, a few pieces of which are in memory. The query has its connection until the
   * last piece is taken; it is ended when the reader stops before, or takes nothing for a minute. A failure is thrown
   * after the pieces that came before it; on a server it may also show in the bytes alone, so that the reader checks
   * that they reach the end of the format (`StreamedSelect.format`).
   */
  queryStream(query: StreamedSelect): AsyncGenerator<Buffer, void, undefined>;
  /** DDL and other statements without a result, one at a time. `reads` as for a SELECT. */
  command(sql: string, reads?: Pick<SelectStatement, 'eventsOf'>): Promise<void>;
  /**
   * Inserts rows that are already encoded. Resolves when they are on disk (the tables fsync after every insert). Uses
   * its own connection, so queries never delay it.
   */
  insertRows(insert: RowsInsert): Promise<void>;
  ping(): Promise<void>;
  /** Resumes the merges and mutations that a start holds back. Absent where none are (`held-merges.ts`). */
  readonly startMerges?: () => Promise<void>;
  /** Queries of each lane at this moment. */
  laneFigures(): ReadonlyMap<QueryLane, PoolFigures>;
  /**
   * Ends the queries that run and refuses those that wait, and all later ones, as `unavailable`. Inserts, which may
   * hold acknowledged events, still work. Resolves when no query runs any more.
   */
  cancelQueries(): Promise<void>;
  /** Waits for what is running, then lets go of the engine. */
  close(): Promise<void>;
}
