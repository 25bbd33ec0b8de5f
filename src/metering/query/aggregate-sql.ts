/** The aggregate of a metric over the events of one row of the result, in SQL. Its column is exact text. */
import type { Aggregation } from '../../core/metric.ts';

/**
 * Sorts events by timestamp, then ingestion, then transaction id. It is (timestamp, ingested_at,
 * transaction_id) as bytes, the numbers big-endian: argMax takes less than half the time that it needs
 * for a tuple, because a customer's events are stored in order of time and each one replaces the last.
 */
export const ORDER_OF_EVENTS = `concat(
    reverse(reinterpretAsFixedString(
      bitShiftLeft(toUInt128(toUnixTimestamp64Milli(timestamp)), 64) + toUnixTimestamp64Micro(ingested_at)
    )),
    transaction_id
  )`;

/** How the queries of usage compute an aggregation. */
interface AggregateSql {
  /** Over the events of one row of the result: exact text. */
  readonly sql: string;
  /** Whether `sql` takes the text of a number as it was sent, and not its value. */
  readonly takesNumberAsText: boolean;
  /** Whether a window counts the values that were first seen in it, and is not aggregated on its own. */
  readonly countsFirstSeen: boolean;
  /**
   * Over the events that match, where a statement reads several metrics. `number` gives the number of an event. Null: it
   * takes more of an event than whether it matches and one number.
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

/** Exact text: LATEST gives back what was sent, the others plain decimals. */
export function aggregateSql(aggregation: Aggregation): string {
  return AGGREGATES[aggregation].sql;
}
