/** The amount of an issued charge of a subscription before drawdown (docs/explanation/rating.md). Pure. */
import { type Decimal, sum } from '../../core/decimal.ts';
import type { SubscriptionInvoiceLine } from '../../core/invoice.ts';
import type { Subscription } from '../../core/terms/subscriptions.ts';
import type { Interval } from '../../core/time.ts';
import { type PriceBands, walkBands } from '../rates/tiers.ts';
import { proratedBands } from './proration.ts';

/** All units of the charge, by their place in its tiers. */
type ChargedUnits = Pick<SubscriptionInvoiceLine, 'interval' | 'isProrated' | 'quantity'> & {
  readonly unitsBelow: Decimal;
};

/** `bands` are the prices of a whole period. */
export function unpaidChargeTotal(
  { interval, isProrated, quantity, unitsBelow }: ChargedUnits,
  bands: PriceBands,
  { whole, rounding }: { readonly whole: Interval; readonly rounding: Subscription['prorationRounding'] },
): Decimal {
  const own = isProrated ? proratedBands(bands, interval, whole, rounding) : bands;
  return sum(walkBands(own, unitsBelow, unitsBelow.plus(quantity)).map(({ amount }) => amount));
}
