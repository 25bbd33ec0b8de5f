/** The rows of month end: which invoices are in its sums, and which one of the month before stands beside a row. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decimal, sum } from '../../../../src/core/decimal.ts';
import { resultAtOnce } from '../../../../src/core/in-chunks.ts';
import type { Invoice } from '../../../../src/core/invoice.ts';
import { monthPart, monthRows } from '../../../../src/rating/invoices/month-rows.ts';

const DAY_MS = 86_400_000;
const START = Date.parse('2026-01-01');

function invoiceOf(own: {
  readonly id: string;
  readonly unit: string;
  readonly type: string;
  readonly status: string;
  readonly total: string;
  readonly start: number;
  readonly days: number;
}): Invoice {
  const { id, unit, type, status, total, start, days } = own;
  const from = START + start * DAY_MS;
  return {
    ...{ id, type, status, contractId: 'a', customerId: 'c', issuedAt: from, creditTypeId: unit },
    ...{
      total: decimal(total),
      lines: [],
      period: { start: from, end: from + days * DAY_MS, countedFrom: from },
    },
    ...{ netPaymentTermsDays: null, isHistorical: false, regeneratedFromInvoiceId: null },
  } as Invoice;
}

const invoice = fc
  .record({
    id: fc.uuid(),
    unit: fc.constantFrom('usd', 'eur'),
    type: fc.constantFrom('USAGE', 'USAGE', 'USAGE', 'SCHEDULED', 'USAGE_CONSOLIDATED'),
    status: fc.constantFrom('FINALIZED', 'FINALIZED', 'VOID', 'DRAFT'),
    total: fc.integer({ min: -500, max: 5_000 }).map(String),
    start: fc.nat({ max: 60 }),
    days: fc.integer({ min: 1, max: 92 }),
  })
  .map(invoiceOf);
const invoices = fc.uniqueArray(invoice, { maxLength: 12, selector: ({ id }) => id });
const former = invoices.map((all) => all.filter((each) => monthPart(each) === 'counted'));
const amountOf = (all: readonly Invoice[]) => sum(all.map(({ total }) => total)).toFixed();
const rowsOf = (all: readonly Invoice[], before: readonly Invoice[]) => resultAtOnce(monthRows(all, before));

it('a row of month end stands for each invoice, and voided invoices and those that repeat others do not count', () => {
  fc.assert(
    fc.property(invoices, former, (all, before) => {
      const rows = rowsOf(all, before);
      expect(rows.map(({ invoice: { id } }) => id)).toEqual(all.map(({ id }) => id));
      for (const { part, invoice: own } of rows) {
        const counts = own.status !== 'VOID' && own.type !== 'USAGE_CONSOLIDATED';
        expect(part === 'counted').toBe(counts);
      }
    }),
  );
});

it('an invoice of the month before stands beside one row at most, a usage invoice in its currency, and reasons add up to the change', () => {
  fc.assert(
    fc.property(invoices, former, (all, before) => {
      const rows = rowsOf(all, before);
      const compared = rows.flatMap((row) => row.former?.id ?? []);
      expect(new Set(compared).size).toBe(compared.length);
      for (const { invoice: own, former: found, reasons } of rows) {
        expect(reasons === null).toBe(found === null);
        if (found === null || reasons === null) continue;
        expect(found.creditTypeId).toBe(own.creditTypeId);
        expect([found.type, own.type]).toEqual(['USAGE', 'USAGE']);
        const change = own.total.minus(found.total).toFixed();
        expect(sum(Object.values(reasons)).toFixed()).toBe(change);
      }
      const alone = before.filter(({ id }) => !compared.includes(id));
      const inRows = sum(rows.flatMap((row) => row.former?.total ?? []));
      expect(inRows.plus(amountOf(alone)).toFixed()).toBe(amountOf(before));
    }),
  );
});

it('weekly statements stand beside those of the month before in their order, and a fifth one beside none', () => {
  const week = (id: string, endDay: number) =>
    invoiceOf({
      ...{ id, unit: 'usd', type: 'USAGE', status: 'FINALIZED', total: '1' },
      start: endDay - 7,
      days: 7,
    });
  const rows = rowsOf(
    [63, 42, 35, 56, 49].map((at) => week(`new-${at}`, at)),
    [28, 21, 14, 7].map((at) => week(`old-${at}`, at)),
  );
  expect(rows.map((row) => `${row.invoice.id} ${row.former?.id} ${row.isFurther}`)).toEqual([
    'new-63 undefined true',
    'new-42 old-14 false',
    'new-35 old-7 false',
    'new-56 old-28 false',
    'new-49 old-21 false',
  ]);
});
