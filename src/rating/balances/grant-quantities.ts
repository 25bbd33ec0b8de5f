/**
 * The quantities of the commits and credits that a recurring term creates (docs/explanation/subscriptions.md, "Credits
 * for seats"). A linked term takes those of its subscription. Pure.
 */
import { type Decimal, maximum, ZERO } from '../../core/decimal.ts';
import type { RecurringCommit } from '../../core/terms/recurring-commits.ts';
import type { Subscription } from '../../core/terms/subscriptions.ts';
import type { Instant, Interval } from '../../core/time.ts';
import { type QuantityStep, quantitySteps } from '../quantities/subscription-quantities.ts';

/** Quantities over time, ascending. 0 before the first step and from `end` on. Null: no end. */
export interface TermQuantities {
  readonly steps: readonly QuantityStep[];
  readonly end: Instant | null;
}

/** Null if unknown: the subscription is not among `subscriptions`. */
export function quantitiesOf(
  { accessAmount, subscription: link }: RecurringCommit,
  subscriptions: readonly Subscription[],
): TermQuantities | null {
  if (accessAmount.quantity !== null) return constant(accessAmount.quantity);
  const subscription = subscriptions.find(({ id }) => id === link?.subscriptionId);
  if (subscription === undefined) return null;
  return { steps: quantitySteps(subscription), end: subscription.endingBefore };
}

function constant(quantity: Decimal): TermQuantities {
  return { steps: [{ at: Number.NEGATIVE_INFINITY, quantity }], end: null };
}

/** The quantities that one period grants; together they equal its highest quantity. */
export interface PeriodQuantities {
  readonly atStart: Decimal;
  /**
   * Increases above the quantity granted so far, ascending. A decrease takes nothing back, so no seat is granted twice.
   */
  readonly increases: readonly { readonly at: Instant; readonly quantity: Decimal }[];
}

export function quantitiesIn({ steps, end: endOfAll }: TermQuantities, period: Interval): PeriodQuantities {
  const { start } = period;
  const isOver = endOfAll !== null && start >= endOfAll;
  const atStart = isOver ? ZERO : (steps.findLast(({ at }) => at <= start)?.quantity ?? ZERO);
  const increases: { at: Instant; quantity: Decimal }[] = [];
  let highest = atStart;
  // The steps of a subscription lie before its end.
  for (const { at, quantity } of steps) {
    if (at <= start || at >= period.end || quantity.lte(highest)) continue;
    increases.push({ at, quantity: quantity.minus(highest) });
    highest = maximum(highest, quantity);
  }
  return { atStart, increases };
}
