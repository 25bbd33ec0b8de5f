/**
 * The billed quantity of a metric's value: Q = round(convert(V)). Always computed from the cumulative value,
 * never from an increment, so that increments of Q add up to Q (docs/explanation/rating.md, "Quantity").
 */
import type { ProductVersion } from '../../core/catalogue.ts';
import { type Decimal, divideTo20Places, ONE, roundDecimal, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';

export type QuantitySettings = Pick<ProductVersion, 'quantityConversion' | 'quantityRounding'>;

/** A monotone function: a greater value never gives a smaller quantity. */
export type QuantityFunction = (value: Decimal) => Decimal;

const QUOTIENT_PLACES = 20;

/** Builds Q for one version of a product. The conversion factor is positive. */
export function quantityFunction(settings: QuantitySettings): QuantityFunction {
  const convert = conversionFunction(settings);
  const { quantityRounding } = settings;
  if (quantityRounding === null) return convert;
  const { method, decimalPlaces } = quantityRounding;
  return (value) => roundDecimal(convert(value), method, decimalPlaces);
}

/** True if both give the same quantity for every value. */
export function sameQuantitySettings(a: QuantitySettings, b: QuantitySettings): boolean {
  const one = a.quantityConversion;
  const other = b.quantityConversion;
  const sameConversion =
    one === null || other === null
      ? one === other
      : one.operation === other.operation && one.conversionFactor.eq(other.conversionFactor);
  return (
    sameConversion &&
    a.quantityRounding?.method === b.quantityRounding?.method &&
    a.quantityRounding?.decimalPlaces === b.quantityRounding?.decimalPlaces
  );
}

function conversionFunction({ quantityConversion }: QuantitySettings): QuantityFunction {
  if (quantityConversion === null) return (value) => value;
  const { operation, conversionFactor } = quantityConversion;
  assert(conversionFactor.gt(ZERO), 'a conversion factor is positive');
  if (operation === 'MULTIPLY') return (value) => value.times(conversionFactor);
  const reciprocal = divideTo20Places(ONE, conversionFactor);
  // A factor such as 1,000 or 1,024 has a finite reciprocal: multiplying gives the same digits, faster.
  if (!reciprocal.times(conversionFactor).eq(ONE))
    return (value) => divideTo20Places(value, conversionFactor);
  return (value) => toQuotientPlaces(value.times(reciprocal));
}

function toQuotientPlaces(value: Decimal): Decimal {
  return value.decimalPlaces() > QUOTIENT_PLACES
    ? roundDecimal(value, 'ROUND_HALF_UP', QUOTIENT_PLACES)
    : value;
}
