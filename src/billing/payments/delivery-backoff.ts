/** When a delivery that has failed is tried again, and when one that has arrived is looked at again. Pure. */
import { type ExternalInvoice, isOpen } from '../../core/external-invoice.ts';
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { ProviderProblem } from '../../payments/provider.ts';
import { backoffMs } from '../../runtime/retry.ts';

const BACKOFF = { firstMs: SECOND_MS, maxMs: 15 * MINUTE_MS };

/** 1, 2, 4 … seconds, 15 minutes at most, and never before the provider wants to be asked. */
export function retryDelayMs(
  failures: number,
  { retryAfterMs }: Pick<ProviderProblem, 'retryAfterMs'>,
): number {
  return Math.max(backoffMs(failures, BACKOFF), retryAfterMs ?? 0);
}

/** From then on an open invoice is looked at once a day. */
const OLD_MS = 90 * DAY_MS;

/**
 * Every hour what is open is asked for, so that a lost message of the provider is only a delay; and what was in doubt, until
 * no call can arrive late any more. Null: it is settled.
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

/** A call that was given up does not arrive after this time. */
const LATE_MAX_MS = 10 * MINUTE_MS;

/** Whether calls of an attempt that ended then, in real time, have all arrived or never will. */
export function isBeyondDoubt(endedAt: Instant | null, now: Instant): boolean {
  return endedAt !== null && now - endedAt > LATE_MAX_MS;
}
