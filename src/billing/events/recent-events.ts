/** Recent events, for operators who watch the service. */
import type { Clock } from '../../core/clock.ts';
import type { RecentEvents } from '../../metering/events/recent-events.ts';
import type { UsageSource } from '../../metering/usage/usage-source.ts';

export type { RecentEvents };

export async function recentEvents(deps: {
  readonly usageSource: UsageSource;
  readonly clock: Clock;
}): Promise<RecentEvents> {
  return await deps.usageSource.events.recent(deps.clock.now());
}
