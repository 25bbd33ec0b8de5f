/** How many events are stored, by day and by type. */
import { z } from 'zod';
import type { Instant, Interval } from '../../core/time.ts';
import type { ClickHouse } from '../client/clickhouse.ts';

export interface EventsOfDay {
  /** Midnight in UTC. */
  readonly start: Instant;
  readonly events: number;
}

export interface EventsOfType {
  readonly eventType: string;
  readonly events: number;
  readonly last: Instant;
  /** The transaction ids of the first and the last of them, by the time at which they happened. */
  readonly ids: readonly string[];
}

const IN_RANGE = `timestamp >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
  AND timestamp < fromUnixTimestamp64Milli({end:Int64}, 'UTC')`;

const BY_DAY = `
SELECT toString(toUnixTimestamp(toStartOfDay(timestamp, 'UTC')) * 1000) AS day_ms, toString(count()) AS events
FROM usage_events FINAL
WHERE ${IN_RANGE}
GROUP BY day_ms`;

const BY_TYPE = `
SELECT
  toString(event_type) AS type, toString(count()) AS events,
  toString(toUnixTimestamp64Milli(max(timestamp))) AS last_ms,
  [argMin(transaction_id, timestamp), argMax(transaction_id, timestamp)] AS ids
FROM usage_events FINAL
WHERE ${IN_RANGE}
GROUP BY type
ORDER BY count() DESC, type
LIMIT {limit:UInt32}`;

const digits = z.string().transform(Number);

const dayRow = z
  .object({ day_ms: digits, events: digits })
  .transform(({ day_ms: start, events }): EventsOfDay => ({ start, events }));

const typeRow = z
  .object({ type: z.string(), events: digits, last_ms: digits, ids: z.array(z.string()) })
  .transform(({ type: eventType, last_ms: last, ...row }): EventsOfType => ({ eventType, last, ...row }));

/** The days with events, in no order. */
export async function countByDay(clickhouse: ClickHouse, { start, end }: Interval): Promise<EventsOfDay[]> {
  return clickhouse.query({ sql: BY_DAY, params: { start, end }, lane: 'reports', schema: dayRow });
}

/** The `limit` types with the most events. */
export async function countByType(
  clickhouse: ClickHouse,
  { start, end }: Interval,
  limit: number,
): Promise<EventsOfType[]> {
  return clickhouse.query({ sql: BY_TYPE, params: { start, end, limit }, lane: 'reports', schema: typeRow });
}
