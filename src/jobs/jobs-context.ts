/** The contexts of billing and notifications, and when due work waits. `app/` creates one when the service starts. */
import type { BillingContext } from '../billing/billing-context.ts';
import type { NotificationContext } from '../notifications/notification-context.ts';

export interface JobsContext extends BillingContext, NotificationContext {
  /** Rejects when a store does not answer. */
  ping(): Promise<unknown>;
  /** While true, nothing is billed and nothing is removed; a job that is running and fails is as it was before. */
  isPaused(): boolean;
  /** Invoice runs wait for it between groups (`runtime/right-of-way.ts`). */
  giveWay(): Promise<void>;
}
