/** System notifications: which lifecycle events are told. All are off until they are switched on. */
import type { Database } from '../store/database.ts';
import { loadEnabledTypes, setTypeEnabled } from '../store/webhook-deliveries.ts';
import { LIFECYCLE_TYPES, type LifecycleType } from './message-types.ts';

export interface SystemNotification {
  readonly type: LifecycleType;
  readonly isEnabled: boolean;
}

/** All lifecycle events, on or off. */
export async function listSystemNotifications(db: Database): Promise<SystemNotification[]> {
  const enabled = await loadEnabledTypes(db);
  return LIFECYCLE_TYPES.map((type) => ({ type, isEnabled: enabled.has(type) }));
}

/** Switches an event on or off, for what happens from now on. `isEnabled` undefined: it stays as it is. */
export function editSystemNotification(
  db: Database,
  { type, isEnabled }: { readonly type: LifecycleType; readonly isEnabled: boolean | undefined },
): Promise<SystemNotification> {
  return db.transaction(async (tx) => {
    if (isEnabled !== undefined) await setTypeEnabled(tx, type, isEnabled);
    return { type, isEnabled: isEnabled ?? (await loadEnabledTypes(tx)).has(type) };
  });
}
