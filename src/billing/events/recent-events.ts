/** Recent events, for operators who watch the service. */
import type { Clock } from '../../core/clock.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { type RecentEvents, recentEvents as readRecentEvents } from '../../metering/events/recent-events.ts';

export type { RecentEvents };

export async function recentEvents(deps: {
  readonly clickhouse: ClickHouse;
  readonly clock: Clock;
}): Promise<RecentEvents> {
  return await readRecentEvents(deps.clickhouse, deps.clock.now());
}
