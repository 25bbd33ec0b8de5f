/**
 * The one interface to ClickHouse, embedded or remote.
 *
 * Contains types only. `clickhouse-client.ts` holds the shared code, `clickhouse-remote.ts` the server at a URL and
 * `embedded/chdb.ts` the engine in this process. Failures of the engine arrive as `ClickHouseError` of
 * `@clickhouse/client`, with `code` (such as '62') and `type` (such as 'SYNTAX_ERROR').
 */
import type { z } from 'zod';
import type { PoolFigures } from './connection-pool.ts';
import type { SentTable } from './sent-tables.ts';

export type QueryParams = Readonly<Record<string, unknown>>;
export type QuerySettings = Readonly<Record<string, string | number>>;

/**
 * The connections that a query uses. Slow queries delay only those of the same lane:
 * - `requests`: drafts, breakdowns, usage and events read by clients;
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
  /** The customer whose usage it reads, if it is only one: it then gets a limited share of the lane. */
  readonly customer?: string | undefined;
  /** Tables that it reads besides those of the database. */
  readonly tables?: readonly SentTable[] | undefined;
  /**
   * The customer references whose usage events it reads; `NO_EVENTS` (around.ts) if it reads none. It waits for
   * acknowledged events of these only. Absent: it may read any events, and waits for all.
   */
  readonly eventsOf?: readonly string[] | undefined;
}

/** A SELECT without FORMAT and SETTINGS, whose answer is streamed. */
export interface StreamedSelect extends SelectStatement {
  /**
   * JSONEachRow and Parquet mark their end in their bytes, so that a truncated answer is detected. Native does not: a
   * server completes such an answer before it sends the first piece. It is meant for the service's own bulk reads,
   * whose statements are quick to plan.
   */
  readonly format: 'JSONEachRow' | 'Parquet' | 'Native';
  /** Aborted when the reader has gone while it waited. */
  readonly signal?: AbortSignal | undefined;
}

/** Rows to insert, as JSONCompactEachRow or, if the types of the columns are given, as RowBinary. */
export interface RowsInsert {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: Buffer;
  /** The types of the columns in the rows; ClickHouse converts them to those of the table. */
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
   * The bytes of an answer of any length; only a few pieces are in memory at a time. The query holds its connection
   * until the last piece is taken; it is cancelled if the reader stops earlier, or takes nothing for a minute. A
   * failure is thrown after the pieces that precede it; on a server it may also show in the bytes alone, so the reader
   * must check that they reach the end of the format (`StreamedSelect.format`).
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
  /** Resumes the merges and mutations that a start holds back. Absent if none are held (`held-merges.ts`). */
  readonly startMerges?: () => Promise<void>;
  /** The current queries of each lane. */
  laneFigures(): ReadonlyMap<QueryLane, PoolFigures>;
  /**
   * Cancels running queries and refuses waiting and later ones as `unavailable`. Inserts, which may hold acknowledged
   * events, still work. Resolves when no query is running.
   */
  cancelQueries(): Promise<void>;
  /** Waits for running work, then releases the engine. */
  close(): Promise<void>;
}
