/** The payable amount and the due date. */
import { describe, expect, test } from 'vitest';
import { FIAT_CREDIT_TYPES, USD_CENTS } from '../../../../src/core/credit-types.ts';
import { Decimal } from '../../../../src/core/decimal.ts';
import { dueAt, payableAmount } from '../../../../src/rating/invoices/payable.ts';

const idOf = (code: string) => FIAT_CREDIT_TYPES.find(({ name }) => name === code)?.id ?? '';
const EUR = idOf('EUR');

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
    // Without decimals, and with three and four.
    [idOf('JPY'), '1234.5', '1235'],
    [idOf('JPY'), '-0.49', '0'],
    [idOf('KRW'), '99.999', '100'],
    [idOf('KWD'), '1.2345', '1.235'],
    [idOf('BHD'), '-0.0005', '-0.001'],
    [idOf('CLF'), '0.00005', '0.0001'],
  ])('%s %s is %s', (creditTypeId, total, expected) => {
    expect(payableAmount({ creditTypeId, total: new Decimal(total) }).toFixed()).toBe(expected);
  });
});

describe('an invoice is due', () => {
  const issuedAt = Date.parse('2027-02-02T00:00:00Z');
  test('an invoice is due its terms after the issue date', () => {
    expect(dueAt({ issuedAt, netPaymentTermsDays: 30 })).toBe(Date.parse('2027-03-04T00:00:00Z'));
    expect(dueAt({ issuedAt, netPaymentTermsDays: 0 })).toBe(issuedAt);
  });
  test('an invoice is due at no instant without terms', () => {
    expect(dueAt({ issuedAt, netPaymentTermsDays: null })).toBeNull();
  });
});
