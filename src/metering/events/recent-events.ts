/** Counts recent events, and finds the time of the last one. */
import { z } from 'zod';
import { DAY_MS, type Instant, MINUTE_MS } from '../../core/time.ts';
import type { ClickHouse } from '../client/clickhouse.ts';

export interface RecentEvents {
  /** Null if none was received within a day. */
  readonly lastAt: Instant | null;
  readonly lastMinute: number;
  readonly lastDay: number;
}

/** Late events, with times before yesterday, are not included: only the months of the last two days are read. */
const SQL = `
SELECT
  count() AS day, countIf(ingested_at >= fromUnixTimestamp64Milli({minute:Int64}, 'UTC')) AS minute,
  toString(toUnixTimestamp64Milli(max(ingested_at))) AS last
FROM usage_events
WHERE timestamp >= fromUnixTimestamp64Milli({day:Int64}, 'UTC') - INTERVAL 1 DAY
  AND ingested_at >= fromUnixTimestamp64Milli({day:Int64}, 'UTC')`;

const row = z.object({ day: z.coerce.number(), minute: z.coerce.number(), last: z.coerce.number() });

export async function recentEvents(clickhouse: ClickHouse, now: Instant): Promise<RecentEvents> {
  const params = { day: now - DAY_MS, minute: now - MINUTE_MS };
  const [found] = await clickhouse.query({ sql: SQL, params, schema: row });
  if (found === undefined || found.day === 0) return { lastAt: null, lastMinute: 0, lastDay: 0 };
  return { lastAt: found.last, lastMinute: found.minute, lastDay: found.day };
}
