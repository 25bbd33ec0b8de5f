/**
 * Billing periods of subscriptions without a rate at their start, so that nothing is charged for them
 * (docs/explanation/subscriptions.md, "Charges"). Unlike missing entitlement, a missing rate is no decision. Pure.
 */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { Subscription } from '../../core/terms/subscriptions.ts';
import type { Instant, Interval } from '../../core/time.ts';
import { periodsUntilNext } from '../periods/subscription-periods.ts';
import { quantitySteps } from '../quantities/subscription-quantities.ts';
import { highestQuantity } from './open-quantities.ts';
import type { SubscriptionPrices } from './prices.ts';

export interface UnpricedPeriod {
  readonly subscriptionId: string;
  readonly productId: string;
  readonly productName: string;
  readonly interval: Interval;
  /** The highest quantity of the period; above 0. */
  readonly quantity: Decimal;
}

/** Periods up to the one after `now`, by start. */
export function unpricedPeriods(
  contract: Contract,
  subscription: Subscription,
  prices: SubscriptionPrices,
  now: Instant,
): UnpricedPeriod[] {
  const { id: subscriptionId, productId } = subscription;
  const unpriced = periodsUntilNext(contract, subscription, now).filter(
    ({ interval }) => !prices.isRated(subscription, interval.start),
  );
  if (unpriced.length === 0) return [];
  const steps = quantitySteps(subscription);
  return unpriced.flatMap(({ interval }) => {
    const quantity = highestQuantity(steps, interval);
    const productName = prices.nameAt(subscription, interval.start);
    return quantity.gt(ZERO) ? [{ subscriptionId, productId, productName, interval, quantity }] : [];
  });
}
