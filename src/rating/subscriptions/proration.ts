/** Prorated prices (docs/explanation/subscriptions.md, "Proration"). Pure. */
import { Decimal, divideTo20Places, type RoundingMethod, roundDecimal } from '../../core/decimal.ts';
import type { PRORATION_ROUNDING_METHODS } from '../../core/terms/recurring-commits.ts';
import type { Subscription } from '../../core/terms/subscriptions.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { PriceBand, PriceBands } from '../rates/tiers.ts';

/**
 * The price of a part of a period. It is the difference of the prices up to its ends, so that adjacent parts add up to
 * the price of the period, although each quotient has 20 places.
 */
export function proratedPrice(price: Decimal, part: Interval, whole: Interval): Decimal {
  const length = new Decimal(String(whole.end - whole.start));
  const priceUntil = (at: Instant) =>
    divideTo20Places(price.times(new Decimal(String(at - whole.start))), length);
  return priceUntil(part.end).minus(priceUntil(part.start));
}

/** The rounded prices of a part of a period, by tier. */
export function proratedBands(
  [first, ...others]: PriceBands,
  part: Interval,
  whole: Interval,
  rounding: Subscription['prorationRounding'],
): PriceBands {
  const prorated = (band: PriceBand): PriceBand => ({
    ...band,
    price: roundedPrice(proratedPrice(band.price, part, whole), rounding),
  });
  return [prorated(first), ...others.map(prorated)];
}

/** Prices are not negative, so FLOOR rounds down and CEILING up. */
const METHODS: Readonly<Record<(typeof PRORATION_ROUNDING_METHODS)[number], RoundingMethod>> = {
  HALF_UP: 'ROUND_HALF_UP',
  FLOOR: 'ROUND_DOWN',
  CEILING: 'ROUND_UP',
};

/** Rounds a prorated price in its stored unit; negative places are powers of ten. Without a rounding it stays exact. */
export function roundedPrice(price: Decimal, rounding: Subscription['prorationRounding']): Decimal {
  return rounding === null
    ? price
    : roundDecimal(price, METHODS[rounding.roundingMethod], rounding.decimalPlaces);
}
