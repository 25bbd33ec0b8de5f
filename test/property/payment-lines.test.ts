/** Laws of what providers get: rounding, layouts, grouping, amounts in the units of Stripe. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allocate } from '../../src/core/allocate.ts';
import { cutText } from '../../src/core/cut-text.ts';
import { Decimal, roundDecimal, ZERO } from '../../src/core/decimal.ts';
import type { PaymentDocument } from '../../src/payments/document.ts';
import { fitLines } from '../../src/payments/lines/fit-lines.ts';
import { INVOICE_LAYOUTS, readableLines } from '../../src/payments/lines/readable-lines.ts';
import {
  fromStripeUnits,
  inStripeUnits,
  isBelowMinimum,
  payableUnits,
  requireCarried,
} from '../../src/payments/stripe/amounts.ts';
import { stripeLines } from '../../src/payments/stripe/stripe-lines.ts';
import { documentCase, fiatCreditTypeOf } from '../support/payment-documents.ts';

const amount = fc
  .tuple(fc.bigInt({ min: -(10n ** 9n), max: 10n ** 9n }), fc.integer({ min: 0, max: 8 }))
  .map(([digits, scale]) => new Decimal(`${digits}e-${scale}`));

const isCarried = ({ payable, currency }: PaymentDocument) => payableUnits(payable, currency) < 10n ** 8n;

const sum = (amounts: readonly Decimal[]) => amounts.reduce((total, one) => total.plus(one), ZERO);

describe('amounts that are rounded together', () => {
  test('amounts that are rounded together are whole, add up to their rounded sum, and none is a whole unit away from its own', () => {
    fc.assert(
      fc.property(fc.array(amount, { maxLength: 60 }), (amounts) => {
        const total = BigInt(roundDecimal(sum(amounts), 'ROUND_HALF_UP', 0).toFixed());
        const rounded = allocate(amounts, total);
        expect(rounded.reduce((a, b) => a + b, 0n)).toBe(total);
        for (const [index, one] of amounts.entries()) {
          const distance = one.minus(String(rounded[index])).abs();
          expect(distance.lt('1')).toBe(true);
          if (one.decimalPlaces() === 0) expect(distance.eq(ZERO)).toBe(true);
        }
      }),
    );
  });

  test('amounts that are rounded together go up where the remainder is largest, and the first of equals does', () => {
    const of = (...texts: string[]) => texts.map((text) => new Decimal(text));
    expect(allocate(of('1.2', '1.7', '1.1'), 4n)).toEqual([1n, 2n, 1n]);
    expect(allocate(of('0.5', '0.5'), 1n)).toEqual([1n, 0n]);
    expect(allocate(of('-1.2', '5.9'), 5n)).toEqual([-1n, 6n]);
    expect(() => allocate(of('1', '1'), 3n)).toThrow('rounded sum');
  });
});

describe('the lines of any invoice', () => {
  test('add up exactly to its total in every layout and after any grouping', () => {
    fc.assert(
      fc.property(
        documentCase,
        fc.constantFrom(...INVOICE_LAYOUTS),
        fc.integer({ min: 1, max: 12 }),
        (document, layout, max) => {
          const lines = readableLines(document, layout);
          expect(sum(lines.map((line) => line.amount)).eq(document.total)).toBe(true);
          const fitted = fitLines(lines, max);
          expect(fitted.lines.length).toBeLessThanOrEqual(max);
          expect(sum(fitted.lines.map((line) => line.amount)).eq(document.total)).toBe(true);
          expect(fitLines(readableLines(document, layout), max)).toEqual(fitted);
          expect(new Set(fitted.lines.map(({ id }) => id)).size).toBe(fitted.lines.length);
        },
      ),
    );
  });

  test('the lines of any invoice arrive at Stripe as whole amounts that add up to the payable amount, without lines of 0', () => {
    fc.assert(
      fc.property(documentCase, fc.constantFrom(...INVOICE_LAYOUTS), (document, layout) => {
        fc.pre(isCarried(document));
        const { lines, subTotal } = stripeLines(document, layout, { given: null, taxesThere: false });
        expect(lines.reduce((total, line) => total + line.amount, 0n)).toBe(subTotal);
        expect(subTotal).toBe(payableUnits(document.payable, document.currency));
        if (lines.length > 1) expect(lines.every((line) => line.amount !== 0n)).toBe(true);
        for (const { priced, amount: whole, description } of lines) {
          expect([...description].length).toBeLessThanOrEqual(500);
          if (priced === null) continue;
          expect(new Decimal(priced.unitAmount).times(String(priced.quantity)).eq(String(whole))).toBe(true);
        }
      }),
    );
  });

  test('the lines of any invoice never show what a balance has paid in the layout net, and show it once for each balance in gross', () => {
    fc.assert(
      fc.property(documentCase, (document) => {
        const paid = document.lines.filter(
          (line) => line.type === 'applied' && line.payer?.commitType !== 'POSTPAID',
        );
        expect(readableLines(document, 'net').some(({ id }) => paid.some((line) => line.id === id))).toBe(
          false,
        );
        const credits = readableLines(document, 'gross').filter(({ id }) => id.startsWith('credit-'));
        const commits = paid.map((line) => ('payer' in line ? line.payer?.commitId : null));
        expect(new Set(credits.map(({ id }) => id))).toEqual(new Set(commits.map((id) => `credit-${id}`)));
      }),
    );
  });
});

describe('texts with a limit', () => {
  test('texts with a limit are cut at whole characters, whatever they consist of', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '😀', '\ud83d', 'é'), maxLength: 60 }), (text) => {
        const cut = cutText(text, 20);
        expect([...cut].length).toBeLessThanOrEqual(20);
        expect(() => encodeURIComponent(cut)).not.toThrow();
      }),
    );
    expect(cutText(`${'a'.repeat(18)}😀😀`, 20)).toBe(`${'a'.repeat(18)}😀😀`);
    expect(cutText(`${'a'.repeat(18)}😀😀b`, 20)).toBe(`${'a'.repeat(18)}😀…`);
  });
});

describe('lines that Stripe taxes', () => {
  test('lines that Stripe taxes are never below zero, say how they are taxed, and add up to the payable amount', () => {
    fc.assert(
      fc.property(documentCase, fc.constantFrom(...INVOICE_LAYOUTS), (document, layout) => {
        fc.pre(document.payable.gte(ZERO) && isCarried(document));
        const { lines, subTotal } = stripeLines(document, layout, { given: null, taxesThere: true });
        expect(lines.reduce((total, line) => total + line.amount, 0n)).toBe(subTotal);
        for (const line of lines) {
          expect(line.amount >= 0n && line.isTaxedThere).toBe(true);
          expect([...line.description].length).toBeLessThanOrEqual(500);
        }
      }),
    );
  });
});

describe('amounts in the units of Stripe', () => {
  const cases = [
    ['USD', '1234', 1234n],
    ['EUR', '12.34', 1234n],
    ['JPY', '500', 500n],
    ['ISK', '500', 50_000n],
    ['UGX', '7', 700n],
    ['KWD', '5.12', 5_120n],
    ['MGA', '12', 12n],
  ] as const;
  test.each(cases)('%s %s are %s', (code, stored, units) => {
    const currency = fiatCreditTypeOf(code);
    expect(payableUnits(new Decimal(stored), currency)).toBe(units);
    expect(fromStripeUnits(Number(units), currency).eq(stored)).toBe(true);
    expect(inStripeUnits(new Decimal(stored), currency).eq(String(units))).toBe(true);
  });

  test('amounts in the units of Stripe that Stripe cannot carry are refused, saying which it can', () => {
    expect(() => payableUnits(new Decimal('5.124'), fiatCreditTypeOf('KWD'))).toThrow(
      'Stripe cannot carry 5.124 KWD: its amounts in KWD are multiples of 0.01',
    );
    expect(() => payableUnits(new Decimal('12.4'), fiatCreditTypeOf('MGA'))).toThrow('multiples of 1');
  });

  test('amounts in the units of Stripe with too many digits, or in a currency that it does not present, are refused', () => {
    const usd = fiatCreditTypeOf('USD');
    expect(() => requireCarried(99_999_999n, usd)).not.toThrow();
    expect(() => requireCarried(100_000_000n, usd)).toThrow('at most 8 digits');
    expect(() => requireCarried(1n, { ...usd, code: 'KPW' })).toThrow('no prices in KPW');
  });

  test('amounts in the units of Stripe below the smallest charge are known', () => {
    expect(isBelowMinimum(new Decimal('49'), fiatCreditTypeOf('USD'))).toBe(true);
    expect(isBelowMinimum(new Decimal('50'), fiatCreditTypeOf('USD'))).toBe(false);
    expect(isBelowMinimum(new Decimal('49'), fiatCreditTypeOf('JPY'))).toBe(true);
  });
});
