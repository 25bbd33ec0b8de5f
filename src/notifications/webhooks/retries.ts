/** The retry schedule of unacknowledged messages. */
import { DAY_MS, type Instant, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { backoffMs } from '../../runtime/retry.ts';

const BACKOFF = { firstMs: 5 * SECOND_MS, maxMs: 15 * MINUTE_MS };

/** How long a message is retried. */
export const RETRIES_MS = 2 * DAY_MS;

/**
 * The instant of the next attempt after `failures` consecutive failures, at least 1; null when `until` is reached. The
 * backoff doubles from 5 seconds to 15 minutes.
 */
export function nextAttemptAt(failures: number, now: Instant, until: Instant): Instant | null {
  const at = now + backoffMs(failures, BACKOFF);
  return at > until ? null : at;
}
