/** The split of a change of an invoice into price, volume, mix and terms. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decimal, sum } from '../../../../src/core/decimal.ts';
import { resultAtOnce } from '../../../../src/core/in-chunks.ts';
import type { Invoice, InvoiceLine } from '../../../../src/core/invoice.ts';
import { type InvoiceChange, invoiceChange } from '../../../../src/rating/invoices/change-reasons.ts';

type Compared = Pick<Invoice, 'total' | 'creditTypeId' | 'lines'>;

interface LineText {
  readonly type?: string;
  readonly product?: string;
  readonly model?: string;
  readonly quantity: string;
  readonly total: string;
}

function invoiceOf(total: string, lines: readonly LineText[]): Compared {
  return {
    total: decimal(total),
    creditTypeId: 'usd',
    lines: lines.map(({ type = 'usage', product = 'tokens', model, ...amounts }) => ({
      ...{ type, productId: product, name: product, creditTypeId: 'usd', presentationGroupValues: {} },
      pricingGroupValues: model === undefined ? {} : { model },
      quantity: decimal(amounts.quantity),
      total: decimal(amounts.total),
    })) as unknown as InvoiceLine[],
  };
}

const changeOf = (now: Compared, before: Compared) => resultAtOnce(invoiceChange(now, before));

const reasonsOf = ({ price, volume, mix, terms }: InvoiceChange) =>
  [price, volume, mix, terms].map((each) => each.toFixed());

it('the split of a change tells price, volume, mix and terms apart', () => {
  const seats = (total: string) => ({ type: 'subscription', product: 'seats', quantity: '1', total });
  const invoice = (total: string, a: [string, string] | null, b: [string, string], seatsCost = '100') =>
    invoiceOf(total, [
      ...(a === null ? [] : [{ model: 'a', quantity: a[0], total: a[1] }]),
      { model: 'b', quantity: b[0], total: b[1] },
      seats(seatsCost),
    ]);
  const before = invoice('1100', ['100', '100'], ['100', '900']);
  const cases = {
    dearer: [invoice('1200', ['100', '200'], ['100', '900']), ['100', '0', '0', '0']],
    more: [invoice('2100', ['200', '200'], ['200', '1800']), ['0', '1000', '0', '0']],
    shifted: [invoice('1900', null, ['200', '1800']), ['0', '0', '800', '0']],
    seats: [invoice('1250', ['100', '100'], ['100', '900'], '250'), ['0', '0', '0', '150']],
  } as const;
  for (const [name, [now, expected]] of Object.entries(cases)) {
    expect(reasonsOf(changeOf(now, before)), name).toEqual(expected);
  }
});

it('the split of a change counts a product that is new or gone as volume, and what balances pay as terms', () => {
  const before = invoiceOf('10', [{ quantity: '10', total: '10' }]);
  const now = invoiceOf('3', [
    { product: 'calls', quantity: '5', total: '5' },
    { product: 'calls', type: 'applied', quantity: '0', total: '-2' },
  ]);
  const change = changeOf(now, before);
  expect(reasonsOf(change)).toEqual(['0', '-5', '0', '-2']);
  expect(
    change.products.map(({ name, total, formerTotal }) => [name, total.toFixed(), formerTotal.toFixed()]),
  ).toEqual([
    ['calls', '5', '0'],
    ['tokens', '0', '10'],
  ]);
});

it('the split of a change adds up to the difference of the totals to the last digit, whatever is on the invoices', () => {
  const digits = fc
    .tuple(fc.integer({ min: -99_999, max: 999_999 }), fc.nat(999_999))
    .map(([whole, part]) => `${whole}.${part}`);
  const positive = fc
    .tuple(fc.nat(99_999), fc.integer({ min: 1, max: 999_999 }))
    .map(([whole, part]) => `${whole}.${part}`);
  const line = fc.record(
    {
      product: fc.constantFrom('tokens', 'calls', 'seats'),
      type: fc.constantFrom('usage', 'usage', 'minimum', 'subscription', 'applied'),
      model: fc.constantFrom('a', 'b'),
      quantity: positive,
      total: digits,
    },
    { requiredKeys: ['product', 'type', 'quantity', 'total'] },
  );
  const invoice = fc
    .tuple(digits, fc.array(line, { maxLength: 12 }))
    .map(([total, lines]) => invoiceOf(total, lines));
  fc.assert(
    fc.property(invoice, invoice, (now, before) => {
      const { price, volume, mix, terms, products } = changeOf(now, before);
      expect(sum([price, volume, mix, terms]).toFixed()).toBe(now.total.minus(before.total).toFixed());
      for (const product of products) {
        const own = sum([product.price, product.volume, product.mix]);
        expect(own.toFixed()).toBe(product.total.minus(product.formerTotal).toFixed());
      }
    }),
  );
});
