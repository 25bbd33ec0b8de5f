/** Accumulates the values of windows to V(t) (core/usage-series.ts). Pure and exact. */
import { type Decimal, maximum } from '../../core/decimal.ts';
import type { Aggregation } from '../../core/metric.ts';
import type { Instant } from '../../core/time.ts';
import type { UsageStep } from '../../core/usage-series.ts';

export interface SeriesFold {
  readonly steps: UsageStep[];
  /**
   * Adds the next window: its end, and the aggregate of it alone; for UNIQUE, the number of values first seen in it. The
   * first window gives a step even at 0, others if V changes.
   */
  add(at: Instant, value: Decimal): void;
}

/** Begins without windows. */
export function createSeriesFold(aggregation: Aggregation): SeriesFold {
  const accumulate = ACCUMULATE[aggregation];
  const steps: UsageStep[] = [];
  let current: Decimal | null = null;
  return {
    steps,
    add(at, value) {
      const next: Decimal = current === null ? value : accumulate(current, value);
      if (current === null || !next.eq(current)) steps.push({ at, value: next });
      current = next;
    },
  };
}

type Accumulate = (before: Decimal, value: Decimal) => Decimal;

const add: Accumulate = (before, value) => before.plus(value);

/** V after a window, given V before it and the value of the window. */
const ACCUMULATE: Readonly<Record<Aggregation, Accumulate>> = {
  COUNT: add,
  SUM: add,
  UNIQUE: add,
  MAX: maximum,
  LATEST: (_before, value) => value,
};
