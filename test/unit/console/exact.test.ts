/** Numbers in the console: every digit that the API sends is shown and sent back. */
import Big from 'big.js';
import { expect, it } from 'vitest';
import { numberOf, parseExact, sum, writeExact } from '../../../console/src/api/exact.ts';
import {
  changeText,
  moneyText,
  priceText,
  quantityText,
  rawText,
} from '../../../console/src/format/money.ts';
import {
  agoText,
  intervalOf,
  lastDayText,
  monthAfter,
  periodText,
} from '../../../console/src/format/time.ts';

const USD = { id: 'usd', name: 'USD (cents)' };
const DIGITS = '12345678901234567890.123456789012345678';

it('the console reads and writes numbers with all their digits', () => {
  expect(parseExact(`{"total":${DIGITS},"tiny":1e-7,"list":[0.1]}`)).toEqual({
    total: DIGITS,
    tiny: '1e-7',
    list: ['0.1'],
  });
  expect(writeExact({ price: numberOf(DIGITS), name: '0.1' })).toBe(`{"price":${DIGITS},"name":"0.1"}`);
  expect(sum(['0.1', '0.2', DIGITS] as never).toFixed()).toBe('12345678901234567890.423456789012345678');
});

it.each([
  ['123456.5', USD, '$1,234.57', '$1,234.565'],
  ['-0.5', USD, '−$0.01', '−$0.005'],
  ['0.0025', USD, '$0.00', '$0.000025'],
  ['12345678901234567890.12', USD, '$123,456,789,012,345,678.90', '$123,456,789,012,345,678.9012'],
  ['19.9', { id: 'eur', name: 'EUR' }, '€19.90', '€19.90'],
  ['1500', { id: 'jpy', name: 'JPY' }, '¥1,500', '¥1,500'],
  ['2.5', { id: 'unit', name: 'Credits' }, '2.5 Credits', '2.5 Credits'],
])('the console writes %s of %j for people, and exactly', (amount, unit, shown, price) => {
  expect(moneyText(amount as never, unit)).toBe(shown);
  expect(priceText(amount as never, unit)).toBe(price);
  expect(rawText(amount as never, unit)).toBe(`${amount} ${unit.name}`);
});

it('the console writes quantities and changes', () => {
  expect(quantityText('1234567.000000000000000001' as never)).toBe('1,234,567.000000000000000001');
  expect(changeText(new Big(90), new Big(120))).toBe('−25.0 %');
  expect(changeText(new Big(-90), new Big(-120))).toBe('+25.0 %');
  expect(changeText(new Big(1), new Big(0))).toBeNull();
});

it('the console writes half-open intervals in UTC by their first and last day', () => {
  expect(periodText('2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z')).toBe('1 Nov – 30 Nov 2026');
  expect(periodText('2026-12-01T00:00:00Z', '2027-02-01T00:00:00Z')).toBe('1 Dec 2026 – 31 Jan 2027');
  expect(lastDayText('2026-11-01T12:00:00Z')).toBe('1 Nov 2026');
  expect(intervalOf('2026-12')).toEqual({
    starting_on: '2026-12-01T00:00:00.000Z',
    ending_before: '2027-01-01T00:00:00.000Z',
  });
  expect(monthAfter('2026-01', -1)).toBe('2025-12');
  expect(agoText('2026-11-01T00:00:00Z', Date.parse('2026-11-01T00:00:03Z'))).toBe('3 s ago');
});
