/**
 * The currency of a fiat pricing unit: its ISO 4217 code, the unit in which its amounts are stored, and its
 * minor unit, which is the smallest amount that can be paid.
 */
import { fiatCreditType, USD_CENTS } from './credit-types.ts';
import { Decimal, roundDecimal } from './decimal.ts';
import { assert } from './errors.ts';
import { minorUnitPlacesOfCode } from './iso-4217.ts';

export interface Currency {
  /** ISO 4217. */
  readonly code: string;
  /** Amounts are stored in units of 10^-storedPlaces: 2 for US dollars, which are stored in cents, else 0. */
  readonly storedPlaces: number;
  /** Decimal places of the minor unit, counted in the currency: 2 for euros, 0 for yen, 3 for dinars. */
  readonly minorUnitPlaces: number;
}

/** The currency of a pricing unit; null for a custom unit. */
export function currencyOf(creditTypeId: string): Currency | null {
  const fiat = fiatCreditType(creditTypeId);
  if (fiat === undefined) return null;
  const [code, storedPlaces] = fiat === USD_CENTS ? ['USD', 2] : [fiat.name, 0];
  const places = minorUnitPlacesOfCode(code);
  assert(places !== undefined, 'a currency is one of ISO 4217');
  return { code, storedPlaces, minorUnitPlaces: places };
}

/** Decimal places of the minor unit in a stored amount: 0 for US cents and custom units, 2 for euros, 0 for yen. */
export function minorUnitPlaces(creditTypeId: string): number {
  const currency = currencyOf(creditTypeId);
  return currency === null ? 0 : currency.minorUnitPlaces - currency.storedPlaces;
}

/**
 * A stored amount rounded to the minor unit, half away from zero. Amounts in custom units are rounded to whole units.
 */
export function roundToMinorUnit(stored: Decimal, creditTypeId: string): Decimal {
  return roundDecimal(stored, 'ROUND_HALF_UP', minorUnitPlaces(creditTypeId));
}

/** A number of minor units of a currency as a stored amount: 500 are 500 US cents, 5 euros, 500 yen, 0.5 dinars. */
export function ofMinorUnits(count: Decimal, creditTypeId: string): Decimal {
  return count.times(powerOfTen(-minorUnitPlaces(creditTypeId)));
}

/** A stored amount in whole units of its currency: 1250 US cents are 12.5 dollars. Exact. */
export function inMajorUnits(stored: Decimal, { storedPlaces }: Pick<Currency, 'storedPlaces'>): Decimal {
  return stored.times(powerOfTen(-storedPlaces));
}

function powerOfTen(exponent: number): Decimal {
  return new Decimal(`1e${exponent}`);
}
