/** The retry time of a failed delivery, and the poll time of an arrived one. Pure. */
import { type ExternalInvoice, isOpen } from '../../core/external-invoice.ts';
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { ProviderProblem } from '../../payments/provider.ts';
import { backoffMs } from '../../runtime/retry.ts';

const BACKOFF = { firstMs: SECOND_MS, maxMs: 15 * MINUTE_MS };

/** 1, 2, 4 … seconds, 15 minutes at most, and never earlier than the provider requests. */
export function retryDelayMs(
  failures: number,
  { retryAfterMs }: Pick<ProviderProblem, 'retryAfterMs'>,
): number {
  return Math.max(backoffMs(failures, BACKOFF), retryAfterMs ?? 0);
}

/** After this time an open invoice is polled once a day. */
const OLD_MS = 90 * DAY_MS;

/**
 * Open invoices are polled every hour, so that a lost message of the provider only causes a delay; uncertain ones until
 * no call can arrive late. Null: final.
 */
export function nextLookAt(
  { status }: ExternalInvoice,
  { createdAt, isDoubtful }: { readonly createdAt: Instant; readonly isDoubtful: boolean },
  now: Instant,
): Instant | null {
  if (isDoubtful) return now + HOUR_MS;
  if (!isOpen(status)) return null;
  return now + (now - createdAt > OLD_MS ? DAY_MS : HOUR_MS);
}

/** A call that has timed out does not arrive after this time. */
const LATE_MAX_MS = 10 * MINUTE_MS;

/** Whether all calls of an attempt that ended at this real time have arrived or never will. */
export function isBeyondDoubt(endedAt: Instant | null, now: Instant): boolean {
  return endedAt !== null && now - endedAt > LATE_MAX_MS;
}
