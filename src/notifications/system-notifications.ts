/** System notifications: which lifecycle events are reported. All are off until they are enabled. */
import type { Clock } from '../core/clock.ts';
import { AT_ONCE } from '../core/signed-duration.ts';
import type { Database } from '../store/base/database.ts';
import { scheduleExisting } from '../store/lifecycle-messages/schedule-existing.ts';
import { lockWanted, removeOfNotification } from '../store/lifecycle-messages/scheduled-messages.ts';
import { loadEnabledTypes, setTypeEnabled } from '../store/messages/webhook-deliveries.ts';
import { isChangeType, LIFECYCLE_TYPES, type LifecycleType } from './message-types.ts';

export interface SystemNotification {
  readonly type: LifecycleType;
  readonly isEnabled: boolean;
}

/** All lifecycle events, on or off. */
export async function listSystemNotifications(db: Database): Promise<SystemNotification[]> {
  const enabled = await loadEnabledTypes(db);
  return LIFECYCLE_TYPES.map((type) => ({ type, isEnabled: enabled.has(type) }));
}

/**
 * Enables or disables an event from now on. `isEnabled` undefined: it stays as it is. Future starts and ends of
 * contracts and segments are scheduled in the same transaction.
 */
export function editSystemNotification(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  { type, isEnabled }: { readonly type: LifecycleType; readonly isEnabled: boolean | undefined },
): Promise<SystemNotification> {
  return db.transaction(async (tx) => {
    const isDated = !isChangeType(type);
    if (isDated && isEnabled !== undefined) await lockWanted(tx);
    const wasEnabled = (await loadEnabledTypes(tx)).has(type);
    if (isEnabled === undefined || isEnabled === wasEnabled) return { type, isEnabled: wasEnabled };
    await setTypeEnabled(tx, type, isEnabled);
    if (isDated && isEnabled) {
      await scheduleExisting(tx, { type, offsetId: null, offset: AT_ONCE }, clock.now());
    }
    if (isDated && !isEnabled) await removeOfNotification(tx, { type, offsetId: null });
    return { type, isEnabled };
  });
}
