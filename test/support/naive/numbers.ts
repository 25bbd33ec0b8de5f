/**
 * The numbers of the naive engine are whole: hundredths of a unit, ten-thousandths of a price. A number that
 * does not come out whole is a mistake of the test case, and throws.
 */
import type { Decimal } from '../../../src/core/decimal.ts';

/** 1.25 is 125. */
export function hundredths(value: Decimal | string): number {
  return wholeOrThrow(Number(value.toString()) * 100);
}

export function wholeOrThrow(value: number): number {
  const whole = Math.round(value);
  if (Math.abs(value - whole) > 1e-6) throw new Error(`${value} is not a whole number`);
  return whole;
}

/** A price, or the product of a price and a multiplier: 1.2345 is 12345. */
export function tenThousandths(value: Decimal | string): number {
  return wholeOrThrow(Number(value.toString()) * 10_000);
}
