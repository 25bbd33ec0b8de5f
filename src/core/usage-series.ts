/**
 * The input of rating from metering: for one line key, the metric's cumulative value over a billing period.
 *
 * V(t) is the metric aggregated over the matching events of `[period start, t)`. It is a step function; `steps` lists
 * it at the end of every window in which it changed, and of the first one with usage, even if that totalled 0. The
 * quantity of a window `[a, b)` is V(b) − V(a), which telescopes: hours sum to days, days to the invoice line
 * (docs/explanation/rating.md).
 */
import { type Decimal, ZERO } from './decimal.ts';
import type { Instant } from './time.ts';

export interface UsageStep {
  /** End of the window in which the value changed. */
  readonly at: Instant;
  /** V(at). */
  readonly value: Decimal;
}

export interface UsageSeries {
  /** Property name → value, for exactly the requested properties. */
  readonly groupValues: Readonly<Record<string, string>>;
  /** Ascending by `at`, at most one per instant. */
  readonly steps: readonly UsageStep[];
}

/** V(t): the last step at or before `t`, 0 before the first. */
export function cumulativeAt(series: UsageSeries, t: Instant): Decimal {
  const { steps } = series;
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const step = steps[middle];
    if (step !== undefined && step.at <= t) low = middle + 1;
    else high = middle;
  }
  return steps[low - 1]?.value ?? ZERO;
}
