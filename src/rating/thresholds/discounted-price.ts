/** The price of a threshold charge with its discount (docs/explanation/thresholds.md, "Discounts"). Pure. */
import { type Decimal, divideTo20Places, maximum, minimum, ZERO } from '../../core/decimal.ts';
import type { ThresholdDiscount } from '../../core/terms/thresholds.ts';

export interface Price {
  /** The invoiced price. */
  readonly total: Decimal;
  /** The part of it at the discounted price. */
  readonly discounted: Decimal;
}

/**
 * The price of a commit whose full price is `full`. The discount applies until the tracker has counted the cap's
 * amount; the rest is charged in full. `room`: the amount that may still be paid at the discounted price, null without
 * a cap. The quotient is rounded to 20 decimal places.
 */
export function discountedPrice(
  full: Decimal,
  discount: Pick<ThresholdDiscount, 'paymentFraction'> | null,
  room: Decimal | null,
): Price {
  if (discount === null) return { total: full, discounted: ZERO };
  const { paymentFraction } = discount;
  const whole = full.times(paymentFraction);
  if (room === null || whole.lte(room)) return { total: whole, discounted: whole };
  const discounted = maximum(room, ZERO);
  const worth = minimum(divideTo20Places(discounted, paymentFraction), full);
  return { total: discounted.plus(full.minus(worth)), discounted };
}
