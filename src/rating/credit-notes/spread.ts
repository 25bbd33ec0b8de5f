/** Divides an amount among the amounts that are left of several lines. Pure. */
import { Decimal, sum, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';

/**
 * In proportion to `left`, in units of the last of `places` decimal places: shares are rounded down, and those with the
 * largest remainders get one unit more, the first ones among equals. `amount` is at most the sum of `left`, so no share
 * exceeds what is left. The unit becomes finer if an amount is not a whole number of them.
 */
export function spread(amount: Decimal, left: readonly Decimal[], places: number): Decimal[] {
  const finest = Math.max(places, ...[amount, ...left].map((one) => one.decimalPlaces()));
  const whole = inUnits(sum(left), finest);
  const wanted = inUnits(amount, finest);
  assert(wanted >= 0n && wanted <= whole, 'at most what is left is divided');
  if (wanted === 0n) return left.map(() => ZERO);
  const shares = left.map((one) => inUnits(one, finest) * wanted);
  const floors = shares.map((share) => share / whole);
  const missing = Number(wanted - floors.reduce((total, one) => total + one, 0n));
  const largest = shares
    .map((share, index) => ({ index, remainder: share % whole }))
    .toSorted((a, b) => Number(b.remainder > a.remainder) - Number(b.remainder < a.remainder))
    .slice(0, missing);
  const rounded = new Set(largest.map(({ index }) => index));
  return floors.map((floor, index) => ofUnits(rounded.has(index) ? floor + 1n : floor, finest));
}

function inUnits(amount: Decimal, places: number): bigint {
  return BigInt(amount.times(new Decimal(`1e${places}`)).toFixed());
}

function ofUnits(count: bigint, places: number): Decimal {
  return new Decimal(count).times(new Decimal(`1e-${places}`));
}
