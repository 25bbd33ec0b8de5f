/**
 * Keeps the scheduled messages of contracts, commits and credits as their changes say (docs/notifications.md, "Starts
 * and ends"): instants that are gone are not told, new ones are told if they are still to come.
 */
import { CLOCK_BOUNDS } from '../core/clock.ts';
import { assert } from '../core/errors.ts';
import { AT_ONCE, addDuration, parseSignedDuration, type SignedDuration } from '../core/signed-duration.ts';
import type { Commit } from '../core/terms/commits.ts';
import type { FullContract } from '../core/terms/contract.ts';
import type { Instant } from '../core/time.ts';
import type { Transaction } from '../store/database.ts';
import { loadActiveOffsets } from '../store/offset-notifications.ts';
import {
  type DatedEvent,
  holdWanted,
  insertScheduled,
  type NewScheduledMessage,
  removeOfEvents,
  removeOfSubjects,
} from '../store/scheduled-messages.ts';
import { loadEnabledTypes } from '../store/webhook-deliveries.ts';
import { type DatedType, isChangeType, isLifecycleType, type LifecycleType } from './message-types.ts';

/** An offset as the text of its duration. */
export function offsetOf(text: string): SignedDuration {
  const offset = parseSignedDuration(text);
  assert(offset !== null, `${text} was checked when it was stored`);
  return offset;
}

/** What a change does to the instants of a contract or a commit. */
export interface Rescheduled {
  readonly before: readonly DatedEvent[];
  readonly after: readonly DatedEvent[];
  /** The change itself. */
  readonly change: DatedEvent | null;
  /** The contract or commit and its segments, where the change archives it. */
  readonly archived: readonly string[];
  /** Whether the service has created it for a period to come: what should have been told before is told now. */
  readonly isGranted: boolean;
}

/** What is told of an event, and since when. */
interface Wanted {
  readonly offsetId: string | null;
  readonly offset: SignedDuration;
  readonly since: Instant | null;
}

/** Schedules what changes at `now` bring, and drops what they take away. Costs two short queries if nothing is wanted. */
export async function reschedule(
  tx: Transaction,
  changes: () => readonly Rescheduled[],
  now: Instant,
): Promise<void> {
  await holdWanted(tx);
  const wanted = await loadWanted(tx);
  if (wanted.size === 0) return;
  const all = changes();
  await removeOfSubjects(
    tx,
    all.flatMap(({ archived }) => archived),
  );
  const gone = all.flatMap(({ before, after }) => without(before, after));
  await removeOfEvents(
    tx,
    gone.filter(({ type }) => wanted.has(type)),
  );
  const messages = all.flatMap((one) => newMessages(one, wanted, now));
  await insertScheduled(tx, inOrder(messages, now));
}

/** In the order of their instants, also those that are told late, at `now`. */
function inOrder(messages: readonly NewScheduledMessage[], now: Instant): NewScheduledMessage[] {
  return messages
    .toSorted((a, b) => a.fireAt - b.fireAt)
    .map((message) => ({ ...message, fireAt: Math.max(message.fireAt, now) }));
}

async function loadWanted(tx: Transaction): Promise<Map<string, Wanted[]>> {
  const wanted = new Map<string, Wanted[]>();
  const add = (type: string, one: Wanted) => wanted.set(type, [...(wanted.get(type) ?? []), one]);
  for (const type of await loadEnabledTypes(tx)) {
    if (isLifecycleType(type) && !isChangeType(type)) {
      add(type, { offsetId: null, offset: AT_ONCE, since: null });
    }
  }
  for (const { id, type, offset, changedAt } of await loadActiveOffsets(tx)) {
    add(type, { offsetId: id, offset: offsetOf(offset), since: changedAt });
  }
  return wanted;
}

/** Those that are due before `now` are to be told late. */
function newMessages(
  { before, after, change, isGranted }: Rescheduled,
  wanted: ReadonlyMap<string, readonly Wanted[]>,
  now: Instant,
): NewScheduledMessage[] {
  const events = [...without(after, before), ...(change === null ? [] : [change])];
  return events.flatMap((event) =>
    (wanted.get(event.type) ?? []).flatMap(({ offsetId, offset, since }): NewScheduledMessage[] => {
      const fireAt = addDuration(event.eventAt, offset);
      if (fireAt >= CLOCK_BOUNDS.end) return [];
      const message = { ...event, offsetId, fireAt };
      if (fireAt > now) return [message];
      const isLate = isGranted && event.eventAt > now && since !== null && fireAt > since;
      return isLate ? [message] : [];
    }),
  );
}

/** The events of `all` that are not among `others`. */
function without(all: readonly DatedEvent[], others: readonly DatedEvent[]): DatedEvent[] {
  const known = new Set(others.map(keyOf));
  return all.filter((event) => !known.has(keyOf(event)));
}

const keyOf = ({ subjectId, type, eventAt }: DatedEvent) => `${subjectId} ${type} ${eventAt}`;

/** The start and the end of a contract; none where it is archived. */
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

/** The starts and the ends of the segments of a commit or credit; none where it is archived. */
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
