/**
 * Limits of time and memory for queries written by users and for previews, and the refusal of a query that exceeds one.
 */
import { ClickHouseError } from '@clickhouse/client';
import { Refusal } from '../../core/errors.ts';
import { around, type ClickHouseCall } from '../client/around.ts';
import type { ClickHouse, QueryLane, QuerySettings } from '../client/clickhouse.ts';

export interface QueryLimits {
  /** Null: the lane of the caller. */
  readonly lane: QueryLane | null;
  readonly executionSeconds: number;
  readonly memoryBytes: number;
  readonly rowsRead: number;
  readonly resultRows: number;
  /** No such limit unless given. */
  readonly resultBytes?: number;
  /** Null: all threads. */
  readonly threads: number | null;
}

export const GIBIBYTE = 1024 ** 3;

/** An invoice has to be computed, even if it takes long. */
export const BILLING_EXECUTION_SECONDS = 120;

/** An analyst's query has one thread, so that other queries are not slowed down. */
export const ANALYSIS_LIMITS: QueryLimits = {
  lane: 'analysis',
  executionSeconds: 10,
  memoryBytes: GIBIBYTE,
  rowsRead: 100_000_000,
  resultRows: 100_000,
  threads: 1,
};

export function limitSettings(limits: QueryLimits): QuerySettings {
  return {
    max_execution_time: limits.executionSeconds,
    max_memory_usage: limits.memoryBytes,
    max_rows_to_read: limits.rowsRead,
    read_overflow_mode: 'throw',
    max_result_rows: limits.resultRows,
    result_overflow_mode: 'throw',
    ...(limits.resultBytes === undefined ? {} : { max_result_bytes: limits.resultBytes }),
    ...(limits.threads === null ? {} : { max_threads: limits.threads }),
  };
}

/** The refusal of a query that exceeded one of its limits; null for other failures, which are internal errors. */
export function limitRefusal(
  error: ClickHouseError,
  limits: QueryLimits,
  refuse: (problem: string) => Refusal,
): Refusal | null {
  switch (error.type) {
    case 'TIMEOUT_EXCEEDED':
    case 'TOO_SLOW':
      return refuse(`the query ran longer than ${limits.executionSeconds} s`);
    case 'MEMORY_LIMIT_EXCEEDED':
      if (/\(total\)/.test(error.message)) {
        return new Refusal('overloaded', 'there is no memory for the query at the moment, try again later');
      }
      return refuse(`the query needs more than ${limits.memoryBytes / GIBIBYTE} GiB of memory`);
    case 'TOO_MANY_ROWS':
    case 'TOO_MANY_BYTES':
      return refuse(`the query reads more than ${limits.rowsRead} events`);
    case 'TOO_MANY_ROWS_OR_BYTES':
      return refuse(
        `the query has more than ${limits.resultRows} values: group by fewer columns or a shorter time`,
      );
    default:
      return null;
  }
}

/** The same ClickHouse, with the connections and limits of analysts' queries for every query. */
export function forAnalysis(clickhouse: ClickHouse): ClickHouse {
  const limits = ANALYSIS_LIMITS;
  const refuse = (problem: string) => new Refusal('invalid', problem);
  return around(clickhouse, {
    change: (statement) => ({
      ...statement,
      lane: 'analysis',
      settings: { ...statement.settings, ...limitSettings(limits) },
    }),
    async run(call, work) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof ClickHouseError) || hasOwnLimit(error, call)) throw error;
        throw limitRefusal(error, limits, refuse) ?? error;
      }
    },
  });
}

/** True if the answer exceeded the byte limit of its reader, which handles that itself. */
function hasOwnLimit(error: ClickHouseError, call: ClickHouseCall): boolean {
  const isTooLong = error.type === 'TOO_MANY_ROWS_OR_BYTES';
  return isTooLong && call.kind === 'select' && call.statement.settings?.max_result_bytes !== undefined;
}
