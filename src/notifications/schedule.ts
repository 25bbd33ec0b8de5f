/**
 * Keeps the scheduled messages of contracts, commits and credits in line with changes
 * (docs/explanation/notifications.md, "Starts and ends"): messages of removed instants are deleted, and messages of new
 * ones are scheduled if they are in the future. The same holds for commits and credits that are not created yet.
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

/** Parses an offset. */
export function offsetOf(text: string): SignedDuration {
  const offset = parseSignedDuration(text);
  assert(offset !== null, `${text} was checked when it was stored`);
  return offset;
}

/** The changes of one transaction. */
export interface Rescheduling {
  readonly changes: readonly Rescheduled[];
  /** The upcoming commits of contracts whose terms changed, or that have created some of them. */
  readonly upcoming: readonly Upcoming[];
}

/**
 * Schedules the messages of changes at `now`, and removes those that no longer apply. Costs two short queries if no
 * messages are enabled.
 */
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
  // Without such an offset nothing is scheduled for upcoming commits.
  if (leadsOf(wanted).length > 0) await removeUncreated(tx, upcoming, now);
  const messages = [
    ...changes.flatMap((one) => newMessages(one, wanted, now)),
    ...upcoming.flatMap((one) => upcomingMessages(one, wanted, now)),
  ];
  await insertScheduled(tx, inOrder(messages, now));
}

/** Schedules the messages of a notification added at `now` about commits and credits that are not created yet. */
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
