/** Finds billing periods with events that were ingested, or corrected, after the period was counted. */
import { z } from 'zod';
import type { Interval } from '../../core/time.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { tabSeparated } from '../client/sent-tables.ts';
import { CORRECTION_PARAMS } from '../corrections/parameter-names.ts';

export interface CountedPeriod {
  /** The ids and aliases of the customer. */
  readonly refs: readonly string[];
  readonly period: Interval;
  /** The ingestion time up to which events were counted, in epoch microseconds. */
  readonly countedUpTo: string;
}

const SQL = `
SELECT toString(period.position) AS position
FROM (
  SELECT customer_ref, timestamp, ingested_at FROM usage_events FINAL
  WHERE timestamp >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
    AND timestamp < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
    AND ingested_at > fromUnixTimestamp64Micro({first_counted:Int64}, 'UTC')
    AND customer_ref GLOBAL IN (SELECT ref FROM sent_periods)
  UNION ALL
  SELECT customer_ref, timestamp, fromUnixTimestamp64Micro(
    transform(toString(attempt), {correction_attempts:Array(String)}, {correction_ticks:Array(Int64)}, toInt64(0)), 'UTC'
  ) AS ingested_at
  FROM corrected_events
  WHERE timestamp >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
    AND timestamp < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
    AND attempt IN {correction_attempts:Array(String)}
    AND customer_ref GLOBAL IN (SELECT ref FROM sent_periods)
) AS event
INNER JOIN (SELECT position, ref, start_ms, end_ms, counted_us FROM sent_periods) AS period
  ON event.customer_ref = period.ref
WHERE event.timestamp >= fromUnixTimestamp64Milli(period.start_ms, 'UTC')
  AND event.timestamp < fromUnixTimestamp64Milli(period.end_ms, 'UTC')
  AND event.ingested_at > fromUnixTimestamp64Micro(period.counted_us, 'UTC')
GROUP BY period.position`;

const COLUMNS = [
  { name: 'position', type: 'UInt32' },
  { name: 'ref', type: 'String' },
  ...['start_ms', 'end_ms', 'counted_us'].map((name) => ({ name, type: 'Int64' })),
];

/** Without corrections; their values are put in their place. */
const NO_CORRECTIONS = { [CORRECTION_PARAMS.attempts]: [], [CORRECTION_PARAMS.ticks]: [] };

const row = z.object({ position: z.string().transform(Number) });

/** The indexes in `periods` of those with such events. */
export async function periodsWithLaterEvents(
  clickhouse: ClickHouse,
  periods: readonly CountedPeriod[],
): Promise<ReadonlySet<number>> {
  if (periods.length === 0) return new Set();
  const rows = periods.flatMap(({ refs, period, countedUpTo }, position) =>
    refs.map((ref) => [String(position), ref, String(period.start), String(period.end), countedUpTo]),
  );
  const found = await clickhouse.query({
    sql: SQL,
    params: {
      ...NO_CORRECTIONS,
      start: Math.min(...periods.map(({ period }) => period.start)),
      end: Math.max(...periods.map(({ period }) => period.end)),
      first_counted: periods
        .map(({ countedUpTo }) => countedUpTo)
        .reduce((least, each) => (BigInt(each) < BigInt(least) ? each : least)),
    },
    tables: [{ name: 'sent_periods', columns: COLUMNS, rows: tabSeparated(rows) }],
    eventsOf: [...new Set(periods.flatMap(({ refs }) => refs))],
    schema: row,
  });
  return new Set(found.map(({ position }) => position));
}
