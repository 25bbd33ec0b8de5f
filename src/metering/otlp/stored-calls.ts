/** Reads calls of spans from stored events: those of a trace, and those with an answer id. */
import { z } from 'zod';
import { HOUR_MS, type Instant, MINUTE_MS } from '../../core/time.ts';
import { TOKEN_EVENT_TYPE } from '../../core/token-billing.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { USAGE_EVENTS_TABLE } from '../ingest/encode-events.ts';
import { firstHashWord, SEARCHED_BY_HASH } from '../ingest/transaction-hash-search.ts';
import { type CountedCall, callOfEvent, TRACE_PROPERTY } from './counted-call.ts';

/** The interval in which calls ended that spans of a request may restate. */
interface SoughtTime {
  readonly from: Instant;
  readonly to: Instant;
}

interface CallsInTraces extends SoughtTime {
  readonly traceIds: readonly string[];
  /** Only these customer references. */
  readonly customers: readonly string[];
}

export interface StoredCalls {
  /**
   * The time of the last stored event; null if other processes store events too, so that there may be a later one at
   * any time.
   */
  lastOfOthers(): Promise<Instant | null>;
  /** Rejects if they cannot be read. */
  inTraces(sought: CallsInTraces): Promise<readonly CountedCall[]>;
  /** Calls with these transaction ids. */
  byId(transactionIds: readonly string[]): Promise<readonly CountedCall[]>;
}

export interface StoredCallsOptions {
  readonly clickhouse: ClickHouse;
  /** The subset of these ids whose events are on disk. */
  storedAmong(transactionIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Whether other processes store events too. */
  readonly isShared: boolean;
}

/** Clocks differ, and a span may end after the one around it. */
const BESIDE_MS = MINUTE_MS;
/** A span that lasted longer is looked up for its last hour. */
const LOOKED_BACK_MS = HOUR_MS;
const CALLS_MAX = 10_000;
const LOOKUP_SECONDS_MAX = 5;

const COLUMNS = `transaction_id, customer_ref, toString(toUnixTimestamp64Milli(timestamp)) AS ended_ms, properties`;

/** Calls that spans with this start and end may restate ended within this interval. */
export function soughtTime(began: Instant, ended: Instant): SoughtTime {
  return { from: Math.max(began, ended - LOOKED_BACK_MS) - BESIDE_MS, to: ended + BESIDE_MS };
}

/** ClickHouse answers it from its index of parts, without reading rows. */
const LAST_SQL = `SELECT toString(toUnixTimestamp64Milli(max(timestamp))) AS last_ms FROM ${USAGE_EVENTS_TABLE}`;

const lastRow = z.object({ last_ms: z.string().transform(Number) });

const IN_TRACES_SQL = `
  SELECT ${COLUMNS} FROM ${USAGE_EVENTS_TABLE}
  WHERE customer_ref IN {customers:Array(String)}
    AND event_type = {type:String}
    AND timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
    AND timestamp <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND properties['${TRACE_PROPERTY}'] IN {traces:Array(String)}
  ORDER BY version DESC
  LIMIT 1 BY transaction_id
  LIMIT ${CALLS_MAX}`;

const BY_ID_SQL = `
  SELECT ${COLUMNS} FROM ${USAGE_EVENTS_TABLE}
  PREWHERE id_hash_a IN {hashes:Array(UInt32)}
  WHERE has({ids:Array(String)}, transaction_id)
  ORDER BY version DESC
  LIMIT 1 BY transaction_id`;

const row = z
  .object({
    transaction_id: z.string(),
    customer_ref: z.string(),
    ended_ms: z.string().transform(Number),
    properties: z.record(z.string(), z.string()),
  })
  .transform(({ customer_ref: customer_id, ended_ms, ...event }) =>
    callOfEvent({ ...event, customer_id }, ended_ms),
  );

export function createStoredCalls({ clickhouse, storedAmong, isShared }: StoredCallsOptions): StoredCalls {
  return {
    async lastOfOthers() {
      if (isShared) return null;
      const [row] = await clickhouse.query({ sql: LAST_SQL, params: {}, schema: lastRow });
      return row?.last_ms ?? null;
    },
    async inTraces({ traceIds, customers, from, to }) {
      if (traceIds.length === 0) return [];
      return await clickhouse.query({
        sql: IN_TRACES_SQL,
        params: { traces: traceIds, customers, type: TOKEN_EVENT_TYPE, from, to },
        settings: { max_execution_time: LOOKUP_SECONDS_MAX },
        schema: row,
      });
    },
    async byId(transactionIds) {
      const ids = [...(await storedAmong(transactionIds))];
      if (ids.length === 0) return [];
      return await clickhouse.query({
        sql: BY_ID_SQL,
        params: { ids, hashes: ids.map(firstHashWord) },
        settings: { ...SEARCHED_BY_HASH, max_execution_time: LOOKUP_SECONDS_MAX },
        schema: row,
      });
    },
  };
}
