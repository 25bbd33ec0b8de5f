/** The aggregate of a metric over the events of one result row, in SQL. Its column is exact text. */
import type { Aggregation } from '../../core/metric.ts';

/**
 * Sorts events by timestamp, then ingestion, then transaction id. It is (timestamp, ingested_at, transaction_id) as
 * bytes, the numbers big-endian: argMax takes less than half the time of a tuple, because a customer's events are
 * stored in order of time and each one replaces the last.
 */
export const ORDER_OF_EVENTS = `concat(
    reverse(reinterpretAsFixedString(
      bitShiftLeft(toUInt128(toUnixTimestamp64Milli(timestamp)), 64) + toUnixTimestamp64Micro(ingested_at)
    )),
    transaction_id
  )`;

/** How usage queries compute an aggregation. */
interface AggregateSql {
  /** The aggregate over the events of one result row: exact text. */
  readonly sql: string;
  /** Whether `sql` takes the text of a number as it was sent, and not its value. */
  readonly takesNumberAsText: boolean;
  /** Whether a window counts the values first seen in it, instead of being aggregated separately. */
  readonly countsFirstSeen: boolean;
  /**
   * The aggregate over matching events, for a statement that reads several metrics. `number` returns the number of an
   * event. Null: the aggregation needs more than whether an event matches and one number.
   */
  readonly shared: ((match: string, number: () => string) => string) | null;
}

const EACH_WINDOW = { takesNumberAsText: false, countsFirstSeen: false } as const;

export const AGGREGATES = {
  COUNT: { ...EACH_WINDOW, sql: 'toString(count())', shared: (match) => `countIf(${match})` },
  SUM: {
    ...EACH_WINDOW,
    sql: 'toString(sum(value_number))',
    shared: (match, number) => `sumIf(${number()}, ${match})`,
  },
  MAX: {
    ...EACH_WINDOW,
    sql: 'toString(max(value_number))',
    shared: (match, number) => `maxIf(${number()}, ${match})`,
  },
  UNIQUE: {
    sql: 'toString(uniqExact(value_text))',
    takesNumberAsText: false,
    countsFirstSeen: true,
    shared: null,
  },
  // The greatest timestamp wins, then the last ingested, then the greatest transaction id.
  LATEST: {
    sql: `argMax(value_text, ${ORDER_OF_EVENTS})`,
    takesNumberAsText: true,
    countsFirstSeen: false,
    shared: null,
  },
} as const satisfies Readonly<Record<Aggregation, AggregateSql>>;

/** Exact text: LATEST returns the text that was sent, the others plain decimals. */
export function aggregateSql(aggregation: Aggregation): string {
  return AGGREGATES[aggregation].sql;
}
