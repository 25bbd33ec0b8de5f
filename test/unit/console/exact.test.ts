/** Numbers in the console: every digit that the API sends is shown and sent back. */
import Big from 'big.js';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { numberOf, parseExact, sum, writeExact } from '../../../console/src/api/exact.ts';
import { CURRENCIES } from '../../../console/src/format/currencies.ts';
import { speak } from '../../../console/src/format/language.ts';
import {
  changeText,
  documentQuantityText,
  growthText,
  lineAmountText,
  moneyText,
  priceText,
  quantityText,
  rawText,
  shortQuantityText,
} from '../../../console/src/format/money.ts';
import {
  agoText,
  intervalOf,
  lastDayText,
  monthAfter,
  periodText,
} from '../../../console/src/format/time.ts';
import { FIAT_CREDIT_TYPES, USD_CENTS } from '../../../src/core/credit-types.ts';
import { currencyOf as serviceCurrencyOf } from '../../../src/core/currencies.ts';
import { Decimal } from '../../../src/core/decimal.ts';
import { printedLineAmount } from '../../../src/core/printed-values.ts';

const unitOf = (code: string) => FIAT_CREDIT_TYPES.find(({ name }) => name === code) ?? USD_CENTS;
const USD = USD_CENTS;
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
  ['-0.25', USD, '$0.00', '−$0.0025'],
  ['0.0025', USD, '$0.00', '$0.000025'],
  ['12345678901234567890.12', USD, '$123,456,789,012,345,678.90', '$123,456,789,012,345,678.9012'],
  ['19.9', unitOf('EUR'), '€19.90', '€19.90'],
  ['1500', unitOf('JPY'), '¥1,500', '¥1,500'],
  ['1234.5', unitOf('HUF'), 'HUF\u00a01,234.50', 'HUF\u00a01,234.50'],
  ['1234.5', unitOf('IQD'), 'IQD\u00a01,234.500', 'IQD\u00a01,234.500'],
  ['2.5', { id: 'unit', name: 'Credits' }, '2.5 Credits', '2.5 Credits'],
  ['2.5', { id: 'unit', name: 'AWU' }, '2.5 AWU', '2.5 AWU'],
  ['2.5', { id: 'unit', name: 'EUR' }, '2.5 EUR', '2.5 EUR'],
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
  expect(growthText(new Big(1100), new Big(100))).toBe('+1000.0 %');
  expect(growthText(new Big('5638'), new Big(100))).toBe('new');
});

it.each([
  ['en', '1234567890.123456789', '1,234,567,890.123456…', '1,234,567,890.1235'],
  ['de', '1234567890', '1.234.567.890', '1.234.567.890'],
  ['de', '1234567890.123456789', '1.234.567.890,123456…', '1.234.567.890,1235'],
  ['es', '98765432109876', '98.765.432.109.876', '98.765.432.109.876'],
  ['en', '0.00004', '0.00004', '< 0.0001'],
  ['de', '-0.00004', '−0,00004', '> −0,0001'],
  ['en', '0', '0', '0'],
] as const)(
  'quantities in the language %s are whole whatever separates their thousands: %s',
  (language, value, short, printed) => {
    onTestFinished(() => speak('en'));
    speak(language);
    expect(shortQuantityText(value as never)).toBe(short);
    expect(documentQuantityText(value as never)).toBe(printed);
  },
);

it('currencies of the console are those of the service: same ids, codes, digits and units (npm run console:currencies)', () => {
  const known = FIAT_CREDIT_TYPES.map(({ id }) => {
    const currency = serviceCurrencyOf(id);
    return [id, [currency?.code, currency?.minorUnitPlaces, currency?.storedPlaces]];
  });
  expect(CURRENCIES).toEqual(Object.fromEntries(known));
});

it('amounts of lines in the console have the digits that the PDF prints, in every currency', () => {
  const digits = fc.tuple(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: 0, max: 9 }));
  const written = digits.map(([coefficient, places]) =>
    new Big(coefficient).div(new Big(10).pow(places)).toFixed(),
  );
  const units = fc.constantFrom(...FIAT_CREDIT_TYPES, { id: 'unit', name: 'AWU' });
  fc.assert(
    fc.property(written, written, units, (amount, price, unit) => {
      const printed = printedLineAmount(new Decimal(amount), new Decimal(price), unit);
      const shown = lineAmountText(amount as never, price as never, unit);
      // Symbols of currencies may have points.
      const figure = (text: string) => [
        /[−-]/.test(text),
        /[<>]/.exec(text)?.[0],
        /\d[\d,]*(?:\.\d+)?/.exec(text)?.[0],
      ];
      expect(figure(shown)).toEqual(figure(printed));
    }),
  );
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
