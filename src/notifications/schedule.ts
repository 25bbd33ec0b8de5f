/**
 * Keeps the scheduled messages of contracts, commits and credits as their changes say
 * (docs/explanation/notifications.md, "Starts and ends"): instants that are gone have no message, new ones have one if
 * they are in the future. So are those of commits and credits that are still to be created.
 */
import { assert } from '../core/errors.ts';
import { AT_ONCE, parseSignedDuration, type SignedDuration } from '../core/signed-duration.ts';
import type { Instant } from '../core/time.ts';
import type { Transaction } from '../store/base/database.ts';
import { sentTogether } from '../store/base/sent-together.ts';
import { loadActiveOffsets } from '../store/lifecycle-messages/offset-notifications.ts';
import type { Notification } from '../store/lifecycle-messages/schedule-existing.ts';
import {
  holdWanted,
  insertScheduled,
  removeOfEvents,
  removeOfSubjects,
  removeUncreated,
} from '../store/lifecycle-messages/scheduled-messages.ts';
import { loadEnabledTypes } from '../store/messages/webhook-deliveries.ts';
import {
  inOrder,
  leadsOf,
  newMessages,
  type Rescheduled,
  upcomingMessages,
  type Wanted,
  type WantedByType,
  without,
} from './due-messages.ts';
import { isChangeType, isLifecycleType } from './message-types.ts';
import type { Upcoming } from './upcoming.ts';

/** An offset as the text of its duration. */
export function offsetOf(text: string): SignedDuration {
  const offset = parseSignedDuration(text);
  assert(offset !== null, `${text} was checked when it was stored`);
  return offset;
}

/** The changes of one transaction. */
export interface Rescheduling {
  readonly changes: readonly Rescheduled[];
  /** Of the contracts whose terms are changed, or that have created some of them. */
  readonly upcoming: readonly Upcoming[];
}

/** Schedules what changes at `now` bring, and drops what they take away. Costs two short queries if nothing is wanted. */
export async function reschedule(
  tx: Transaction,
  rescheduling: () => Rescheduling,
  now: Instant,
): Promise<void> {
  const [, wanted] = await sentTogether(
    () => holdWanted(tx),
    () => loadWanted(tx),
  );
  if (wanted.size === 0) return;
  const { changes, upcoming } = rescheduling();
  await removeOfSubjects(
    tx,
    changes.flatMap(({ archived }) => archived),
  );
  const gone = changes.flatMap(({ before, after }) => without(before, after));
  await removeOfEvents(
    tx,
    gone.filter(({ type }) => wanted.has(type)),
  );
  // Without such an offset nothing of them is scheduled.
  if (leadsOf(wanted).length > 0) await removeUncreated(tx, upcoming, now);
  const messages = [
    ...changes.flatMap((one) => newMessages(one, wanted, now)),
    ...upcoming.flatMap((one) => upcomingMessages(one, wanted, now)),
  ];
  await insertScheduled(tx, inOrder(messages, now));
}

/** Schedules what a notification that is added at `now` tells of commits and credits that are still to be created. */
export async function scheduleUpcoming(
  tx: Transaction,
  upcoming: readonly Upcoming[],
  { type, offsetId, offset }: Notification,
  now: Instant,
): Promise<void> {
  const wanted = new Map([[type, [{ offsetId, offset, since: now }]]]);
  const messages = upcoming.flatMap((one) => upcomingMessages(one, wanted, now));
  await insertScheduled(tx, inOrder(messages, now));
}

async function loadWanted(tx: Transaction): Promise<WantedByType> {
  const wanted = new Map<string, Wanted[]>();
  const add = (type: string, one: Wanted) => wanted.set(type, [...(wanted.get(type) ?? []), one]);
  const [enabled, offsets] = await sentTogether(
    () => loadEnabledTypes(tx),
    () => loadActiveOffsets(tx),
  );
  for (const type of enabled) {
    if (isLifecycleType(type) && !isChangeType(type)) {
      add(type, { offsetId: null, offset: AT_ONCE, since: null });
    }
  }
  for (const { id, type, offset, changedAt } of offsets) {
    add(type, { offsetId: id, offset: offsetOf(offset), since: changedAt });
  }
  return wanted;
}
