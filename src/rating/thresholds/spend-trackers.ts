/**
 * The spend that spend trackers have counted in a billing period (docs/explanation/thresholds.md, "Spend trackers").
 * Pure.
 */
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import type { SPEND_SOURCES, SpendTracker } from '../../core/terms/thresholds.ts';
import { contains, type Instant, type Interval } from '../../core/time.ts';

/** One invoiced amount of a commit. */
export interface Purchase {
  readonly at: Instant;
  readonly source: (typeof SPEND_SOURCES)[number];
  /** The amount in the unit of the tracker. */
  readonly amount: Decimal;
  /** The part of it at a discounted price. */
  readonly discounted: Decimal;
}

type Specifiers = SpendTracker['specifiers'];

/** The purchases dated in the period that one of the specifiers counts. Nothing counts twice. */
export function countedSpend(
  specifiers: Specifiers,
  purchases: readonly Purchase[],
  period: Interval,
): Decimal {
  return sum(
    purchases
      .filter(({ at }) => contains(period, at))
      .map(({ source, amount, discounted }) => {
        const counts = (which: 'DISCOUNTED_ONLY' | 'UNDISCOUNTED_ONLY') =>
          specifiers.some(
            (one) => one.sources.includes(source) && (one.discounted === 'ANY' || one.discounted === which),
          );
        return (counts('DISCOUNTED_ONLY') ? discounted : ZERO).plus(
          counts('UNDISCOUNTED_ONLY') ? amount.minus(discounted) : ZERO,
        );
      }),
  );
}
