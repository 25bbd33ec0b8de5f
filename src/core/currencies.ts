/**
 * The currency behind a fiat pricing unit: its ISO 4217 code, the unit in which its amounts are stored, and its
 * minor unit.
 */
import { FIAT_CREDIT_TYPES, USD_CENTS } from './credit-types.ts';

export interface Currency {
  /** ISO 4217. */
  readonly code: string;
  /** Amounts are stored in units of 10^-storedPlaces: 2 for US dollars, which are stored in cents, else 0. */
  readonly storedPlaces: number;
  /** Decimal places of the minor unit, counted in the currency: 2 for euros, 0 for yen, 3 for dinars. */
  readonly minorUnitPlaces: number;
}

/** Decimal places of minor units by ISO 4217, where they are not 2. */
const OTHER_MINOR_UNITS: Readonly<Record<number, readonly string[]>> = {
  0: [
    'BIF',
    'CLP',
    'DJF',
    'GNF',
    'ISK',
    'JPY',
    'KMF',
    'KRW',
    'PYG',
    'RWF',
    'UGX',
    'UYI',
    'VND',
    'VUV',
    'XAF',
    'XOF',
    'XPF',
  ],
  3: ['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'],
  4: ['CLF', 'UYW'],
};

const PLACES_BY_CODE = new Map(
  Object.entries(OTHER_MINOR_UNITS).flatMap(([places, codes]) =>
    codes.map((code) => [code, Number(places)] as const),
  ),
);

/** Decimal places of the minor unit of a currency, by its ISO 4217 code. */
export function minorUnitPlacesOfCode(code: string): number {
  return PLACES_BY_CODE.get(code) ?? 2;
}

/** The currency of a pricing unit; null for a custom unit. */
export function currencyOf(creditTypeId: string): Currency | null {
  if (creditTypeId === USD_CENTS.id) return { code: 'USD', storedPlaces: 2, minorUnitPlaces: 2 };
  const fiat = FIAT_CREDIT_TYPES.find(({ id }) => id === creditTypeId);
  if (fiat === undefined) return null;
  return { code: fiat.name, storedPlaces: 0, minorUnitPlaces: minorUnitPlacesOfCode(fiat.name) };
}

/** Decimal places of the minor unit in a stored amount: 0 for US cents and custom units, 2 for euros. */
export function minorUnitPlaces(creditTypeId: string): number {
  const currency = currencyOf(creditTypeId);
  return currency === null ? 0 : currency.minorUnitPlaces - currency.storedPlaces;
}
