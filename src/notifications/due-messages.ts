/** Determines the messages that changes cause, and when each is due. Pure. */
import { CLOCK_BOUNDS } from '../core/clock.ts';
import { addDuration, type SignedDuration, signOf } from '../core/signed-duration.ts';
import type { Commit } from '../core/terms/commits.ts';
import type { FullContract } from '../core/terms/contract.ts';
import { floorToHour, type Instant } from '../core/time.ts';
import type { DatedEvent, NewScheduledMessage } from '../store/lifecycle-messages/scheduled-messages.ts';
import type { DatedType, LifecycleType } from './message-types.ts';
import { eventsTold, type Upcoming } from './upcoming.ts';

/** The messages of an event, and the instant since which they are enabled. */
export interface Wanted {
  readonly offsetId: string | null;
  readonly offset: SignedDuration;
  readonly since: Instant | null;
}

export type WantedByType = ReadonlyMap<string, readonly Wanted[]>;

/** The effect of a change on the instants of a contract or a commit. */
export interface Rescheduled {
  readonly before: readonly DatedEvent[];
  readonly after: readonly DatedEvent[];
  /** The change itself. */
  readonly change: DatedEvent | null;
  /** The contract or commit and its segments, if the change archives it. */
  readonly archived: readonly string[];
  /**
   * Messages due by this instant were scheduled before, or are not sent. Messages due between it and now are sent late.
   */
  readonly dueAfter: Instant;
}

/** The messages for a contract or commit after a change. */
export function newMessages(
  { before, after, change, dueAfter }: Rescheduled,
  wanted: WantedByType,
  now: Instant,
): NewScheduledMessage[] {
  const events = [...without(after, before), ...(change === null ? [] : [change])];
  return messagesOf(events, wanted, { now, dueAfter });
}

/** The messages that are due until the next commit is created. */
export function upcomingMessages(
  { dueAfter, dueUntil, commitsIn }: Upcoming,
  wanted: WantedByType,
  now: Instant,
): NewScheduledMessage[] {
  if (dueUntil === null) return [];
  return leadsOf(wanted).flatMap(([type, lead]) => {
    const events = commitsIn(eventsTold(lead.offset, { from: dueAfter, until: dueUntil }))
      .flatMap(segmentInstants)
      .filter((event) => event.type === type);
    const messages = messagesOf(events, new Map([[type, [lead]]]), { now, dueAfter });
    return messages.filter(({ fireAt }) => fireAt <= dueUntil);
  });
}

/** The messages about segments before their start or their end. */
export function leadsOf(wanted: WantedByType): [type: string, lead: Wanted][] {
  return [...wanted]
    .filter(([type]) => type.includes('.segment.'))
    .flatMap(([type, all]) => all.map((one): [string, Wanted] => [type, one]))
    .filter(([, { offset }]) => signOf(offset) < 0);
}

/** Messages due by `now` are sent late. */
function messagesOf(
  events: readonly DatedEvent[],
  wanted: WantedByType,
  { now, dueAfter }: { readonly now: Instant; readonly dueAfter: Instant },
): NewScheduledMessage[] {
  return events.flatMap((event) =>
    (wanted.get(event.type) ?? []).flatMap(({ offsetId, offset, since }): NewScheduledMessage[] => {
      const fireAt = addDuration(event.eventAt, offset);
      if (fireAt >= CLOCK_BOUNDS.end) return [];
      const message = { ...event, offsetId, fireAt };
      if (fireAt > now) return [message];
      const isLate = fireAt > dueAfter && event.eventAt > now && since !== null && fireAt > since;
      return isLate || (offsetId === null && startsInThisHour(event, now)) ? [message] : [];
    }),
  );
}

/** A contract whose start is the hour of its creation starts when it is created. */
function startsInThisHour({ type, eventAt }: DatedEvent, now: Instant): boolean {
  return type === 'contract.start' && floorToHour(now) <= eventAt && eventAt <= now;
}

/** In the order of their instants, including late ones, which are sent at `now`. */
export function inOrder(messages: readonly NewScheduledMessage[], now: Instant): NewScheduledMessage[] {
  return messages
    .toSorted((a, b) => a.fireAt - b.fireAt)
    .map((message) => ({ ...message, fireAt: Math.max(message.fireAt, now) }));
}

/** The events of `all` that are not among `others`. */
export function without(all: readonly DatedEvent[], others: readonly DatedEvent[]): DatedEvent[] {
  const known = new Set(others.map(keyOf));
  return all.filter((event) => !known.has(keyOf(event)));
}

const keyOf = ({ subjectId, type, eventAt }: DatedEvent) => `${subjectId} ${type} ${eventAt}`;

/** The start and the end of a contract; none if it is archived. */
export function contractInstants({ contract }: FullContract): DatedEvent[] {
  if (contract.archivedAt !== null) return [];
  const { id, customerId, startingAt, endingBefore } = contract;
  const about = { subjectId: id, customerId, contractId: id, commitId: null, segmentId: null };
  const at = (type: DatedType, eventAt: Instant) => ({ ...about, type, eventAt });
  return [
    at('contract.start', startingAt),
    ...(endingBefore === null ? [] : [at('contract.end', endingBefore)]),
  ];
}

/** The starts and the ends of the segments of a commit or credit; none if it is archived. */
export function segmentInstants(commit: Commit): DatedEvent[] {
  if (commit.archivedAt !== null) return [];
  const { id: commitId, customerId, contractId, accessSchedule } = commit;
  const kind = commit.type === 'CREDIT' ? 'credit' : 'commit';
  return accessSchedule.segments.flatMap(({ id, startingAt, endingBefore }) => {
    const about = { subjectId: id, customerId, contractId, commitId, segmentId: id };
    return [
      { ...about, type: `${kind}.segment.start` satisfies LifecycleType, eventAt: startingAt },
      { ...about, type: `${kind}.segment.end` satisfies LifecycleType, eventAt: endingBefore },
    ];
  });
}
