/** The contexts of billing and notifications, and when due work pauses. `app/` creates one when the service starts. */
import type { BillingContext } from '../billing/billing-context.ts';
import type { NotificationContext } from '../notifications/notification-context.ts';

export interface JobsContext extends BillingContext, NotificationContext {
  /** Rejects when a store does not answer. */
  ping(): Promise<unknown>;
  /** While true, nothing is billed and nothing is removed; a running job that fails is restored to its former state. */
  isPaused(): boolean;
  /** Invoice runs wait for it between groups (`runtime/right-of-way.ts`). */
  giveWay(): Promise<void>;
}
