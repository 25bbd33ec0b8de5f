/** Recent events, for operators who watch the service. */
import type { Clock } from '../../core/clock.ts';
import type { RecentEvents } from '../../metering/events/recent-events.ts';
import type { UsageSource } from '../../metering/usage/usage-source.ts';

export type { RecentEvents };

export async function recentEvents(context: {
  readonly usageSource: UsageSource;
  readonly clock: Clock;
}): Promise<RecentEvents> {
  return await context.usageSource.events.recent(context.clock.now());
}
