/**
 * Divides a rounded total among exact amounts by the largest-remainder method (docs/explanation/payments.md,
 * "Rounding"). Every amount becomes an adjacent whole number of units, and together they equal the total.
 */
import { type Decimal, ZERO } from './decimal.ts';
import { assert } from './errors.ts';

const ONE_UNIT = 1n;

/**
 * Rounds each amount down to whole units, and adds one to those with the largest remainders, the first ones among
 * equals, until the sum is `total`. A whole amount stays as it is. `amounts` and `total` are counted in units, and the
 * total is their sum rounded to a whole unit.
 */
export function allocate(amounts: readonly Decimal[], total: bigint): bigint[] {
  const floors = amounts.map(floorOf);
  const remainders = amounts.map((amount, index) => amount.minus(String(floors[index])));
  const missing = total - floors.reduce((sum, one) => sum + one, 0n);
  const fractional = remainders.flatMap((remainder, index) => (remainder.gt(ZERO) ? [index] : []));
  assert(
    missing >= 0n && missing <= BigInt(fractional.length),
    `${total} is not the rounded sum of the lines`,
  );
  const rounded = new Set(
    fractional
      .toSorted((a, b) => (remainders[b] ?? ZERO).cmp(remainders[a] ?? ZERO) || a - b)
      .slice(0, Number(missing)),
  );
  return floors.map((floor, index) => (rounded.has(index) ? floor + ONE_UNIT : floor));
}

function floorOf(amount: Decimal): bigint {
  const whole = BigInt(amount.round(0, 0).toFixed());
  return amount.lt(String(whole)) ? whole - ONE_UNIT : whole;
}
