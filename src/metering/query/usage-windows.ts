/** Windows of a usage request: UTC hours or days cut to the requested range, or the whole range. */
import { DAY_MS, HOUR_MS, type Instant, type Interval } from '../../core/time.ts';

export const USAGE_WINDOW_SIZES = ['HOUR', 'DAY', 'NONE'] as const;
export type UsageWindowSize = (typeof USAGE_WINDOW_SIZES)[number];

const LENGTH_MS: Readonly<Record<Exclude<UsageWindowSize, 'NONE'>, number>> = { HOUR: HOUR_MS, DAY: DAY_MS };

/** Length of a whole window, null if the range is one window. */
export function windowLength(size: UsageWindowSize): number | null {
  return size === 'NONE' ? null : LENGTH_MS[size];
}

/** Start of the window that contains `at`; windows of a range that starts within one begin before it. */
export function windowStartOf(size: UsageWindowSize, range: Interval, at: Instant): Instant {
  const length = windowLength(size);
  return length === null ? range.start : Math.floor(at / length) * length;
}

/** The window that starts at `start`, cut to the range. */
export function windowAt(size: UsageWindowSize, range: Interval, start: Instant): Interval {
  const length = windowLength(size);
  if (length === null) return range;
  return { start: Math.max(start, range.start), end: Math.min(start + length, range.end) };
}
