/** Laws of consolidated invoices. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Constituent,
  linesOfConstituents,
  totalOfConstituents,
} from '../../../src/core/consolidated-invoice.ts';
import { sum } from '../../../src/core/decimal.ts';
import type { InvoiceLine } from '../../../src/core/invoice.ts';
import { invoiceTotal } from '../../../src/rating/invoices/breakdown.ts';
import { lineId } from '../../../src/rating/invoices/line-id.ts';
import { usageLine } from '../api/pdf/printed-invoices.ts';

const amount = fc
  .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: 0, max: 18 }))
  .map(([digits, places]) => `${digits}e-${places}`);

/** Lines of one invoice: each product once, so that they are separate lines. */
const lines = fc
  .array(amount, { maxLength: 6 })
  .map((quantities) =>
    quantities.map(
      (quantity, index): InvoiceLine => usageLine(quantity, '0.03', { productId: `product-${index}` }),
    ),
  );

const constituents = fc.array(lines, { minLength: 1, maxLength: 10 }).map((invoices) =>
  invoices.map((own, index): Constituent => {
    const creditTypeId = usageLine('1', '1').creditTypeId;
    const total = sum(own.map((line) => line.total));
    const owner = {
      id: `invoice-${index}`,
      customerId: `customer-${index}`,
      contractId: `contract-${index}`,
    };
    return { ...owner, creditTypeId, total, lines: own };
  }),
);

test('every line of every constituent is on the invoice once, in order, with its origin', () => {
  fc.assert(
    fc.property(constituents, (parts) => {
      const shown = linesOfConstituents(parts).map(({ origin, ...line }) => [origin?.invoiceId, line]);
      expect(shown).toEqual(parts.flatMap(({ id, lines: own }) => own.map((line) => [id, line])));
    }),
  );
});

test('the total is that of its constituents and that of its lines, to the last digit', () => {
  fc.assert(
    fc.property(constituents, (parts) => {
      const total = totalOfConstituents(parts);
      expect(total.toFixed()).toBe(
        invoiceTotal(linesOfConstituents(parts), usageLine('1', '1').creditTypeId).toFixed(),
      );
      expect(total.toFixed()).toBe(sum(parts.map((part) => part.total)).toFixed());
    }),
  );
});

test('lines of one product of several customers have separate ids, which are not those of their origins', () => {
  fc.assert(
    fc.property(constituents, (parts) => {
      const shown = linesOfConstituents(parts).map((line) => lineId('consolidated', line));
      const original = parts.flatMap(({ id, lines: own }) => own.map((line) => lineId(id, line)));
      expect(new Set([...shown, ...original]).size).toBe(shown.length + original.length);
    }),
  );
});
