/** The month that the demo bills: one billing period that covers all its traffic and that ingest still accepts. */
import { addMonths, DAY_MS, floorToDay, type Instant, type Interval } from '../core/time.ts';

/** No month is longer; ingest accepts events up to 34 days old, so any start within this range is accepted. */
const DAYS_IN_MONTH_MAX = 31;

/**
 * The billing period of a contract that starts as early as possible and whose first month (by calendar,
 * from its start) is still running at `now`. Starts and ends at midnight UTC, 28 to 31 days apart.
 */
export function billingWindow(now: Instant): Interval {
  const today = floorToDay(now);
  for (let days = DAYS_IN_MONTH_MAX; days > 0; days--) {
    const start = today - days * DAY_MS;
    const end = addMonths(start, 1);
    if (end > now) return { start, end };
  }
  return { start: today, end: addMonths(today, 1) };
}
