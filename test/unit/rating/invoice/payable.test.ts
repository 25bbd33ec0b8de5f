/** The payable amount and the due date. */
import { describe, expect, test } from 'vitest';
import { FIAT_CREDIT_TYPES, USD_CENTS } from '../../../../src/core/credit-types.ts';
import { currencyOf, minorUnitPlaces, minorUnitPlacesOfCode } from '../../../../src/core/currencies.ts';
import { Decimal } from '../../../../src/core/decimal.ts';
import { dueAt, payableAmount } from '../../../../src/rating/invoice/payable.ts';

const EUR = FIAT_CREDIT_TYPES.find(({ name }) => name === 'EUR')?.id ?? '';

describe('the payable amount is the total, half away from zero to the minor unit', () => {
  test.each([
    // US dollars are stored in cents.
    [USD_CENTS.id, '0', '0'],
    [USD_CENTS.id, '5155.25', '5155'],
    [USD_CENTS.id, '0.49999999999999999999', '0'],
    [USD_CENTS.id, '0.5', '1'],
    [USD_CENTS.id, '1.5', '2'],
    [USD_CENTS.id, '2.5', '3'],
    [USD_CENTS.id, '-0.5', '-1'],
    [USD_CENTS.id, '-2.5', '-3'],
    [USD_CENTS.id, '-2.49', '-2'],
    [USD_CENTS.id, '123456789012345678901234567890.5', '123456789012345678901234567891'],
    // Others in whole units.
    [EUR, '10', '10'],
    [EUR, '10.004', '10'],
    [EUR, '10.005', '10.01'],
    [EUR, '-10.005', '-10.01'],
    [EUR, '0.99999', '1'],
  ])('%s %s is %s', (creditTypeId, total, expected) => {
    expect(payableAmount({ creditTypeId, total: new Decimal(total) }).toFixed()).toBe(expected);
  });
});

describe('the minor unit', () => {
  test.each([
    ['EUR', 2],
    ['JPY', 0],
    ['KRW', 0],
    ['BHD', 3],
    ['KWD', 3],
    ['CLF', 4],
  ])('of %s has %i places', (code, places) => expect(minorUnitPlacesOfCode(code)).toBe(places));

  test('of every currency of the service is known, with its code', () => {
    for (const { id, name } of FIAT_CREDIT_TYPES) {
      expect(currencyOf(id)).toMatchObject({
        code: name === 'USD (cents)' ? 'USD' : name,
        minorUnitPlaces: 2,
      });
    }
  });

  test('of a custom unit is the unit itself', () => {
    expect(minorUnitPlaces('0a3f1d6e-0000-4000-8000-000000000000')).toBe(0);
  });
});

describe('an invoice is due', () => {
  const issuedAt = Date.parse('2027-02-02T00:00:00Z');
  test('its terms after the issue date', () => {
    expect(dueAt({ issuedAt, netPaymentTermsDays: 30 })).toBe(Date.parse('2027-03-04T00:00:00Z'));
    expect(dueAt({ issuedAt, netPaymentTermsDays: 0 })).toBe(issuedAt);
  });
  test('at no instant without terms', () => {
    expect(dueAt({ issuedAt, netPaymentTermsDays: null })).toBeNull();
  });
});
