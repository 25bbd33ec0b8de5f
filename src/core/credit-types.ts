/**
 * Pricing units. USD is counted in cents, every other fiat currency in whole units. The ids are fixed,
 * so that a client can hold them in its configuration.
 */
import { derivedId } from './ids.ts';

export interface CreditType {
  readonly id: string;
  readonly name: string;
}

export const USD_CENTS: CreditType = { id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2', name: 'USD (cents)' };

const EUR: CreditType = { id: '58f0be15-cc47-4220-bdaf-072ab0e44f96', name: 'EUR' };

const OTHER_FIAT_CODES = [
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
] as const;

/** Every fiat currency the service knows, USD first. */
export const FIAT_CREDIT_TYPES: readonly CreditType[] = [
  USD_CENTS,
  EUR,
  ...OTHER_FIAT_CODES.map((code) => ({ id: derivedId('credit-type', code), name: code })),
];

export function isFiat(creditTypeId: string): boolean {
  return FIAT_CREDIT_TYPES.some((fiat) => fiat.id === creditTypeId);
}
