/** Accumulates the values of windows to V(t) (core/usage-series.ts). Pure and exact. */
import { type Decimal, maximum } from '../../core/decimal.ts';
import { unreachable } from '../../core/errors.ts';
import type { Aggregation } from '../../core/metric.ts';
import type { Instant } from '../../core/time.ts';
import type { UsageStep } from '../../core/usage-series.ts';

/** The aggregate of one window alone; for UNIQUE, how many values were first seen in it. */
export interface WindowValue {
  /** End of the window. */
  readonly at: Instant;
  readonly value: Decimal;
}

/** `windows` ascending by `at`. The first one gives a step even at 0, others where V changes. */
export function cumulativeSteps(aggregation: Aggregation, windows: readonly WindowValue[]): UsageStep[] {
  const fold = createSeriesFold(aggregation);
  for (const { at, value } of windows) fold.add(at, value);
  return fold.steps;
}

export interface SeriesFold {
  readonly steps: UsageStep[];
  /** The next window, as of `WindowValue`. */
  add(at: Instant, value: Decimal): void;
}

/** `cumulativeSteps` of windows that are added one by one. */
export function createSeriesFold(aggregation: Aggregation): SeriesFold {
  const steps: UsageStep[] = [];
  let current: Decimal | null = null;
  return {
    steps,
    add(at, value) {
      const next: Decimal = current === null ? value : accumulated(aggregation, current, value);
      if (current === null || !next.eq(current)) steps.push({ at, value: next });
      current = next;
    },
  };
}

function accumulated(aggregation: Aggregation, before: Decimal, value: Decimal): Decimal {
  switch (aggregation) {
    case 'COUNT':
    case 'SUM':
    case 'UNIQUE':
      return before.plus(value);
    case 'MAX':
      return maximum(before, value);
    case 'LATEST':
      return value;
    default:
      return unreachable(aggregation);
  }
}
