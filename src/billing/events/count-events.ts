/** The stored events of the last 30 days, counted by day and by type. */
import { DAY_MS, type Instant, type Interval } from '../../core/time.ts';
import { whileKept } from '../../metering/client/kept-events.ts';
import type { EventsOfDay, EventsOfType } from '../../metering/events/count-events.ts';
import type { BillingContext } from '../billing-context.ts';

export const DAYS_COUNTED = 30;
export const TYPES_MAX = 50;

type Deps = Pick<BillingContext, 'usageSource' | 'eventFacts' | 'clock'>;

/** The days in UTC up to today, without those whose events retention has removed. */
function countedDays({ clock, eventFacts }: Deps): Interval {
  const end = (Math.floor(clock.now() / DAY_MS) + 1) * DAY_MS;
  return { start: Math.max(end - DAYS_COUNTED * DAY_MS, eventFacts.keptFrom() ?? 0), end };
}

/** A count for each day, the first one first. */
export async function countEventsByDay(context: Deps): Promise<EventsOfDay[]> {
  const range = countedDays(context);
  const found = await whileKept(context.eventFacts, range.start, () =>
    context.usageSource.events.byDay(range),
  );
  const counts = new Map(found.map(({ start, events }) => [start, events]));
  const days: EventsOfDay[] = [];
  for (let start = range.start; start < range.end; start += DAY_MS) {
    days.push({ start, events: counts.get(start) ?? 0 });
  }
  return days;
}

interface SeenType extends Pick<EventsOfType, 'eventType' | 'events'> {
  readonly last: Instant;
  /** Names that its first and its last event have, sorted. */
  readonly properties: readonly string[];
}

/** The 50 types with the most events, the most frequent one first. */
export async function countEventsByType(context: Deps): Promise<SeenType[]> {
  const { eventFacts, usageSource } = context;
  const range = countedDays(context);
  const types = await whileKept(eventFacts, range.start, () => usageSource.events.byType(range, TYPES_MAX));
  const ids = [...new Set(types.flatMap((type) => type.ids))];
  const { accepted } = ids.length === 0 ? { accepted: [] } : await usageSource.events.find(ids, 0, 1);
  const names = new Map<string, Set<string>>();
  for (const { eventType, properties } of accepted) {
    names.set(eventType, new Set([...(names.get(eventType) ?? []), ...properties.keys()]));
  }
  return types.map(({ eventType, events, last }) => ({
    ...{ eventType, events, last },
    properties: [...(names.get(eventType) ?? [])].sort(),
  }));
}
