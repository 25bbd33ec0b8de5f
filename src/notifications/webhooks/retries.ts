/** The retry schedule of unacknowledged messages. */
import { DAY_MS, type Instant, MINUTE_MS, SECOND_MS } from '../../core/time.ts';

const FIRST_PAUSE_MS = 5 * SECOND_MS;
const PAUSE_MAX_MS = 15 * MINUTE_MS;

/** How long a message is retried. */
export const RETRIES_MS = 2 * DAY_MS;

/**
 * The instant of the next attempt after `failures` consecutive failures, at least 1; null when `until` is reached. The
 * backoff doubles from 5 seconds to 15 minutes.
 */
export function nextAttemptAt(failures: number, now: Instant, until: Instant): Instant | null {
  const at = now + Math.min(PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 20));
  return at > until ? null : at;
}
