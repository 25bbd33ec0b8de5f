/** From the value of a metric to the quantity that is billed, both in hundredths. */
import type { ProductVersion } from '../../../src/core/catalogue.ts';
import { hundredths, wholeOrThrow } from './numbers.ts';

type Settings = Pick<ProductVersion, 'quantityConversion' | 'quantityRounding'>;

/** Converted, then rounded. */
export function naiveQuantity({ quantityConversion, quantityRounding }: Settings, value: number): number {
  let numerator = value;
  let denominator = 1;
  if (quantityConversion !== null) {
    const factor = hundredths(quantityConversion.conversionFactor);
    if (quantityConversion.operation === 'MULTIPLY') [numerator, denominator] = [value * factor, 100];
    else [numerator, denominator] = [value * 100, factor];
  }
  if (quantityRounding === null) return wholeOrThrow(numerator / denominator);
  const grain = 10 ** (2 - quantityRounding.decimalPlaces);
  denominator *= grain;
  const size = Math.abs(numerator);
  const whole = Math.floor(size / denominator);
  const rest = size - whole * denominator;
  const up = { ROUND_UP: rest > 0, ROUND_DOWN: false, ROUND_HALF_UP: rest * 2 >= denominator };
  return Math.sign(numerator) * (whole + (up[quantityRounding.method] ? 1 : 0)) * grain;
}
