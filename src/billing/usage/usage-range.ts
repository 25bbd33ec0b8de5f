/** The range of a usage request: whole hours or whole days, with something between its ends. */
import { invalid, words } from '../../core/errors.ts';
import { type Interval, isDayAligned, isHourAligned } from '../../core/time.ts';
import type { UsageWindowSize } from '../../metering/query/usage-windows.ts';

/**
 * Refuses (`invalid`) ends that are not starts of windows: hour windows may begin and end on any hour, all others at
 * midnight UTC, where their days do.
 */
export function checkUsageRange(windowSize: UsageWindowSize, { start, end }: Interval): void {
  const isAligned = windowSize === 'HOUR' ? isHourAligned : isDayAligned;
  const problem = windowSize === 'HOUR' ? 'must be on a full hour in UTC' : 'must be at midnight UTC';
  if (!isAligned(start)) throw invalid(['startingOn'], problem);
  if (!isAligned(end)) throw invalid(['endingBefore'], problem);
  if (end <= start) throw invalid(['endingBefore'], words`must be after ${['startingOn']}`);
}
