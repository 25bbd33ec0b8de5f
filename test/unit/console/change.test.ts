/** The console's split of a change into price, volume, mix and terms. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseExact } from '../../../console/src/api/exact.ts';
import { type ComparedInvoice, changeOf } from '../../../console/src/pages/invoice/change.ts';

const USD = { id: 'usd' };

/** An invoice whose numbers are read as the console reads answers. */
function invoiceOf(total: string, lines: readonly object[]): ComparedInvoice {
  const line_items = lines.map((line) => ({
    name: 'Tokens',
    type: 'usage',
    product_id: 'tokens',
    credit_type: USD,
    ...line,
  }));
  const text = JSON.stringify({ credit_type: USD, line_items }).replaceAll(/"#([^"]*)"/g, '$1');
  return parseExact(`${text.slice(0, -1)},"total":${total}}`) as ComparedInvoice;
}

const group = (model: string) => ({ pricing_group_values: { model } });

it('the split of a change tells price, volume, mix and terms apart', () => {
  const before = invoiceOf('1100', [
    { ...group('a'), quantity: '#100', total: '#100' },
    { ...group('b'), quantity: '#100', total: '#900' },
    { type: 'subscription', product_id: 'seats', quantity: '#1', total: '#100' },
  ]);
  const dearer = invoiceOf('1200', [
    { ...group('a'), quantity: '#100', total: '#200' },
    { ...group('b'), quantity: '#100', total: '#900' },
    { type: 'subscription', product_id: 'seats', quantity: '#1', total: '#100' },
  ]);
  const more = invoiceOf('2100', [
    { ...group('a'), quantity: '#200', total: '#200' },
    { ...group('b'), quantity: '#200', total: '#1800' },
    { type: 'subscription', product_id: 'seats', quantity: '#1', total: '#100' },
  ]);
  const shifted = invoiceOf('1900', [
    { ...group('b'), quantity: '#200', total: '#1800' },
    { type: 'subscription', product_id: 'seats', quantity: '#1', total: '#100' },
  ]);
  const seats = invoiceOf('1250', [
    { ...group('a'), quantity: '#100', total: '#100' },
    { ...group('b'), quantity: '#100', total: '#900' },
    { type: 'subscription', product_id: 'seats', quantity: '#1', total: '#250' },
  ]);
  const reasons = (now: ComparedInvoice) => {
    const { price, volume, mix, terms } = changeOf(now, before);
    return [price, volume, mix, terms].map((each) => each.toFixed());
  };
  expect(reasons(dearer)).toEqual(['100', '0', '0', '0']);
  expect(reasons(more)).toEqual(['0', '1000', '0', '0']);
  expect(reasons(shifted)).toEqual(['0', '0', '800', '0']);
  expect(reasons(seats)).toEqual(['0', '0', '0', '150']);
});

it('the split of a change counts a product that is new or gone as volume, and what balances pay as terms', () => {
  const before = invoiceOf('10', [{ quantity: '#10', total: '#10' }]);
  const now = invoiceOf('3', [
    { product_id: 'calls', name: 'Calls', quantity: '#5', total: '#5' },
    { product_id: 'calls', name: 'Credit applied', type: 'applied_commit_or_credit', total: '#-2' },
  ]);
  const change = changeOf(now, before);
  expect(change.volume.toFixed()).toBe('-5');
  expect(change.terms.toFixed()).toBe('-2');
});

it('the split of a change adds up to the difference of the totals to the last digit, whatever is on the invoices', () => {
  const digits = fc
    .tuple(fc.integer({ min: -99_999, max: 999_999 }), fc.nat(999_999))
    .map(([whole, part]) => `${whole}.${part}`);
  const positive = fc
    .tuple(fc.nat(99_999), fc.integer({ min: 1, max: 999_999 }))
    .map(([whole, part]) => `${whole}.${part}`);
  const line = fc.record({
    product_id: fc.constantFrom('tokens', 'calls', 'seats'),
    type: fc.constantFrom('usage', 'usage', 'subscription', 'applied_commit_or_credit'),
    pricing_group_values: fc.constantFrom({ model: 'a' }, { model: 'b' }, {}),
    quantity: positive.map((text) => `#${text}`),
    total: digits.map((text) => `#${text}`),
  });
  const invoice = fc
    .tuple(digits, fc.array(line, { maxLength: 12 }))
    .map(([total, lines]) => invoiceOf(total, lines));
  fc.assert(
    fc.property(invoice, invoice, (now, before) => {
      const { price, volume, mix, terms, ...totals } = changeOf(now, before);
      const parts = price.plus(volume).plus(mix).plus(terms);
      expect(parts.toFixed()).toBe(totals.now.minus(totals.before).toFixed());
      for (const product of changeOf(now, before).products) {
        const own = product.price.plus(product.volume).plus(product.mix);
        expect(own.toFixed()).toBe(product.now.minus(product.before).toFixed());
      }
    }),
  );
});
