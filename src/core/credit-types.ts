/**
 * Pricing units. USD is counted in cents, every other fiat currency in whole units. The ids are fixed,
 * so that a client can hold them in its configuration.
 */

import { derivedId } from './ids.ts';
import { CURRENCY_CODES } from './iso-4217.ts';

export interface CreditType {
  readonly id: string;
  readonly name: string;
}

export const USD_CENTS: CreditType = { id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2', name: 'USD (cents)' };

const EUR: CreditType = { id: '58f0be15-cc47-4220-bdaf-072ab0e44f96', name: 'EUR' };

/** The currencies that are listed first, after US cents and the euro. */
const FREQUENT_CODES = [
  'GBP',
  'AUD',
  'BRL',
  'CAD',
  'CHF',
  'CZK',
  'INR',
  'MXN',
  'NGN',
  'NOK',
  'PLN',
  'SEK',
  'TRY',
  'ZAR',
  'NZD',
  'SGD',
];

/** The pricing units that clients find on the first page of the list, beside custom units. */
export const FREQUENT_CREDIT_TYPES: readonly CreditType[] = [
  USD_CENTS,
  EUR,
  ...FREQUENT_CODES.map(inWholeUnits),
];

/** All other currencies of ISO 4217, by code. */
export const OTHER_CREDIT_TYPES: readonly CreditType[] = CURRENCY_CODES.filter(
  (code) => !['USD', 'EUR', ...FREQUENT_CODES].includes(code),
).map(inWholeUnits);

/** Every fiat currency the service knows, USD first. */
export const FIAT_CREDIT_TYPES: readonly CreditType[] = [...FREQUENT_CREDIT_TYPES, ...OTHER_CREDIT_TYPES];

const FIAT_BY_ID: ReadonlyMap<string, CreditType> = new Map(FIAT_CREDIT_TYPES.map((fiat) => [fiat.id, fiat]));

/** The currency with this id; undefined for custom units and unknown ids. */
export function fiatCreditType(creditTypeId: string): CreditType | undefined {
  return FIAT_BY_ID.get(creditTypeId);
}

export function isFiat(creditTypeId: string): boolean {
  return FIAT_BY_ID.has(creditTypeId);
}

function inWholeUnits(code: string): CreditType {
  return { id: derivedId('credit-type', code), name: code };
}
