/** Publishes due messages: starts, ends, and those of offset notifications before and after events. */
import { assert } from '../core/errors.ts';
import type { Instant } from '../core/time.ts';
import type { Transaction } from '../store/base/database.ts';
import { findOffset } from '../store/lifecycle-messages/offset-notifications.ts';
import {
  type CommitOutline,
  deleteScheduled,
  loadCommitOutlines,
  lockTelling,
  type ScheduledMessage,
  takeDue,
} from '../store/lifecycle-messages/scheduled-messages.ts';
import { lifecycleMessages } from './lifecycle-messages.ts';
import { isLifecycleType } from './message-types.ts';
import type { NotificationContext } from './notification-context.ts';
import { type Message, publishAskedFor } from './outbox.ts';
import type { UpcomingCommits } from './upcoming.ts';

/** Messages per transaction. */
const BATCH_MAX = 500;

/**
 * Writes the messages due at `now`, in the order of their instants. Each is written in the transaction that removes it
 * from the schedule. Any number of processes may call it concurrently. `isClosed`: stops between two batches.
 */
export async function tellScheduled(
  { db, upcoming }: Pick<NotificationContext, 'db' | 'upcoming'>,
  now: Instant,
  isClosed = () => false,
): Promise<void> {
  let told = BATCH_MAX;
  while (told === BATCH_MAX && !isClosed()) {
    told = await db.transaction((tx) => tellBatch(tx, upcoming, now));
  }
}

async function tellBatch(tx: Transaction, upcoming: UpcomingCommits, now: Instant): Promise<number> {
  await lockTelling(tx);
  const due = await takeDue(tx, now, BATCH_MAX);
  if (due.length === 0) return 0;
  await publishAskedFor(tx, [...new Set(due.map(typeOf))], () => messagesOf(tx, upcoming, due));
  await deleteScheduled(
    tx,
    due.map(({ id }) => id),
  );
  return due.length;
}

async function messagesOf(
  tx: Transaction,
  upcoming: UpcomingCommits,
  due: readonly ScheduledMessage[],
): Promise<Message[]> {
  const outlines = await outlinesOf(tx, upcoming, due);
  const durations = await durationsOf(tx, due);
  const events = due.flatMap((row) => {
    const commit = row.commitId === null ? null : outlines.get(row.commitId);
    // It was never created, because its contract or its term has ended.
    if (commit === undefined) return [];
    return [{ row, type: typeOf(row), customerId: row.customerId, contractId: row.contractId, commit }];
  });
  return lifecycleMessages(tx, events, ({ row, commit }) => ({
    id: row.id,
    eventAt: row.eventAt,
    members: {
      ...segmentMembers(row, commit),
      ...(row.offsetId === null
        ? {}
        : { offset_id: row.offsetId, offset_duration: durations.get(row.offsetId) }),
    },
  }));
}

/** The commits and credits of the messages by id, including those not created yet. */
async function outlinesOf(
  tx: Transaction,
  upcoming: UpcomingCommits,
  due: readonly ScheduledMessage[],
): Promise<Map<string, CommitOutline>> {
  const ids = new Set(due.flatMap(({ commitId }) => (commitId === null ? [] : [commitId])));
  const outlines = await loadCommitOutlines(tx, [...ids]);
  const others = due.filter(({ commitId }) => commitId !== null && !outlines.has(commitId));
  if (others.length === 0) return outlines;
  const contractIds = new Set(others.flatMap(({ contractId }) => contractId ?? []));
  const instants = others.map(({ eventAt }) => eventAt);
  const span = { from: Math.min(...instants), until: Math.max(...instants) };
  for (const commit of await upcoming.ofContracts(tx, [...contractIds], span)) {
    if (!ids.has(commit.id)) continue;
    const { id, type, recurringCommitId, accessSchedule } = commit;
    outlines.set(id, {
      ...{ id, type, recurringCommitId },
      segmentIds: accessSchedule.segments.map((segment) => segment.id),
    });
  }
  return outlines;
}

async function durationsOf(
  tx: Transaction,
  due: readonly ScheduledMessage[],
): Promise<Map<string, string | undefined>> {
  const durations = new Map<string, string | undefined>();
  for (const { offsetId } of due) {
    if (offsetId === null || durations.has(offsetId)) continue;
    durations.set(offsetId, (await findOffset(tx, offsetId))?.offset);
  }
  return durations;
}

function segmentMembers({ segmentId }: ScheduledMessage, commit: CommitOutline | null) {
  if (segmentId === null || commit === null) return {};
  return {
    segment_id: segmentId,
    segment_index: commit.segmentIds.indexOf(segmentId),
    segment_count: commit.segmentIds.length,
  };
}

function typeOf({ type }: ScheduledMessage) {
  assert(isLifecycleType(type), `${type} was a lifecycle event when it was scheduled`);
  return type;
}
