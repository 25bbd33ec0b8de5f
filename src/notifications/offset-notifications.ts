/** Offset notifications: messages some time before or after lifecycle events (docs/explanation/notifications.md). */
import { conflict, invalid, keyUsed, notFound, Refusal } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import type { Page, PageRequest } from '../core/paging.ts';
import { parseSignedDuration, signOf } from '../core/signed-duration.ts';
import type { Instant } from '../core/time.ts';
import type { Transaction } from '../store/base/database.ts';
import {
  type ArchiveFilter,
  countActiveOffsets,
  findOffset,
  insertOffset,
  listOffsets as listStoredOffsets,
  type OffsetNotification,
  offsetWithKey,
  saveOffset,
} from '../store/lifecycle-messages/offset-notifications.ts';
import {
  moveScheduled,
  type Notification,
  scheduleExisting,
} from '../store/lifecycle-messages/schedule-existing.ts';
import {
  lockWanted,
  removeOfNotification,
  removeUncreatedOf,
} from '../store/lifecycle-messages/scheduled-messages.ts';
import { isChangeType, type LifecycleType } from './message-types.ts';
import type { NotificationContext } from './notification-context.ts';
import { offsetOf, scheduleUpcoming } from './schedule.ts';

export type { OffsetNotification };

/** Limited, because each may schedule a message per event. */
const OFFSETS_MAX = 50;

export interface OffsetPolicy {
  readonly type: LifecycleType;
  /** A signed ISO 8601 duration. */
  readonly offset: string;
}

interface NewOffset {
  readonly name: string;
  readonly policy: OffsetPolicy;
  readonly uniquenessKey: string | null;
  readonly createdBy: string;
}

/**
 * Creates an offset notification, which reports events from now on. Refuses an invalid duration, or one before a change
 * (`invalid`), a uniqueness key that was used before, and more than 50 (`conflict`).
 */
export function createOffset(context: NotificationContext, wanted: NewOffset): Promise<OffsetNotification> {
  const { type, offset } = checked(wanted.policy);
  return context.db.transaction(async (tx) => {
    await lockWanted(tx);
    const now = context.clock.now();
    const { name, uniquenessKey, createdBy } = wanted;
    const times = { createdAt: now, changedAt: now, archivedAt: null };
    const created = { id: newId(), name, type, offset, uniquenessKey, createdBy, ...times };
    if (!(await insertOffset(tx, created))) throw keyUsed(await offsetWithKey(tx, uniquenessKey ?? ''));
    if ((await countActiveOffsets(tx)) > OFFSETS_MAX) {
      throw conflict(`there are ${OFFSETS_MAX} offset notifications already: archive one first`);
    }
    await scheduleAll(context, tx, { type, offsetId: created.id, offset: offsetOf(offset) }, now);
    return created;
  });
}

/** Refuses an unknown id (`not_found`). */
export async function getOffset(
  { db }: Pick<NotificationContext, 'db'>,
  id: string,
): Promise<OffsetNotification> {
  return found(await findOffset(db, id), id);
}

/** In the order of creation. */
export function listOffsets(
  { db }: Pick<NotificationContext, 'db'>,
  filter: ArchiveFilter,
  page: PageRequest,
): Promise<Page<OffsetNotification>> {
  return listStoredOffsets(db, filter, page);
}

/**
 * Sets another offset: messages that were not sent yet are sent at the new instants, if these are in the future.
 * Refuses an unknown or archived notification, and another type of event (`invalid`).
 */
export function editOffset(
  context: NotificationContext,
  id: string,
  { type, offset: text }: Pick<OffsetPolicy, 'type'> & { readonly offset: string | undefined },
): Promise<OffsetNotification> {
  return context.db.transaction(async (tx) => {
    await lockWanted(tx);
    const before = await findOffset(tx, id);
    if (before === null) {
      throw new Refusal('invalid', `notification ${id} not found`, { code: 'NotificationConfigNotFound' });
    }
    if (before.archivedAt !== null) throw new Refusal('invalid', `notification ${id} is archived`);
    if (before.type !== type) throw invalid(['policy', 'type'], `must stay ${before.type}`);
    if (text === undefined) throw invalid(['policy', 'offset'], 'is required');
    const { offset } = checked({ type, offset: text });
    if (offset === before.offset) return before;
    const changes = { offset, changedAt: context.clock.now() };
    await saveOffset(tx, id, changes);
    const notification = { type, offsetId: id, offset: offsetOf(offset) };
    await removeUncreatedOf(tx, id, changes.changedAt);
    await moveScheduled(tx, notification, changes.changedAt);
    await scheduleAll(context, tx, notification, changes.changedAt);
    return { ...before, ...changes };
  });
}

/** Schedules messages for existing objects, and messages before the creation of upcoming ones. */
async function scheduleAll(
  { upcoming }: Pick<NotificationContext, 'upcoming'>,
  tx: Transaction,
  notification: Notification,
  now: Instant,
): Promise<void> {
  await scheduleExisting(tx, notification, now);
  if (signOf(notification.offset) >= 0 || !notification.type.includes('.segment.')) return;
  for await (const page of upcoming.all(tx, now)) await scheduleUpcoming(tx, page, notification, now);
}

/** Archives one: its remaining messages are not sent. Idempotent. */
export function archiveOffset(
  { db, clock }: Omit<NotificationContext, 'upcoming'>,
  id: string,
): Promise<OffsetNotification> {
  return db.transaction(async (tx) => {
    await lockWanted(tx);
    const before = found(await findOffset(tx, id), id);
    if (before.archivedAt !== null) return before;
    const changes = { archivedAt: clock.now() };
    await saveOffset(tx, id, changes);
    await removeOfNotification(tx, { offsetId: id, type: before.type });
    return { ...before, ...changes };
  });
}

function checked({ type, offset }: OffsetPolicy): OffsetPolicy {
  const path = ['policy', 'offset'];
  const duration = parseSignedDuration(offset);
  if (duration === null) {
    throw invalid(path, 'must be an ISO 8601 duration of ten years at most, such as P1D or -PT2H');
  }
  if (signOf(duration) === 0) throw invalid(path, 'must not be zero: switch the event itself on');
  if (signOf(duration) < 0 && isChangeType(type)) {
    throw invalid(path, `must not be negative: ${type} is not known before it happens`);
  }
  return { type, offset };
}

function found(offset: OffsetNotification | null, id: string): OffsetNotification {
  if (offset === null) throw notFound('notification', id, 'NotificationConfigNotFound');
  return offset;
}
