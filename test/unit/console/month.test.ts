/** The rows of month end: which invoices are in its sums, and which one of the month before stands beside a row. */
import Big from 'big.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Exact, sum } from '../../../console/src/api/exact.ts';
import { monthOfInvoice } from '../../../console/src/format/time.ts';
import { type MonthRow, rowsOf } from '../../../console/src/pages/month-end/month.ts';
import { naiveMonth } from '../../support/naive/months.ts';

type Invoice = Parameters<typeof rowsOf>[0][number];

const day = (at: number) => new Date(at).toISOString();
const DAY_MS = 86_400_000;
const START = Date.parse('2026-01-01');

const invoice = fc
  .record({
    id: fc.uuid(),
    contract: fc.constantFrom('a', 'b'),
    unit: fc.constantFrom('usd', 'eur'),
    type: fc.constantFrom('USAGE', 'USAGE', 'USAGE', 'SCHEDULED', 'USAGE_CONSOLIDATED'),
    status: fc.constantFrom('FINALIZED', 'FINALIZED', 'VOID', 'DRAFT'),
    total: fc.integer({ min: -500, max: 5_000 }),
    start: fc.nat({ max: 60 }),
    days: fc.integer({ min: 1, max: 92 }),
  })
  .map(({ id, contract, unit, type, status, total, start, days }) => {
    const from = START + start * DAY_MS;
    const period = { start_timestamp: day(from), end_timestamp: day(from + days * DAY_MS) };
    return {
      ...{ id, type, status, contract_id: contract, customer_id: 'c', issued_at: day(from) },
      ...(type === 'SCHEDULED' ? {} : period),
      ...{ credit_type: { id: unit, name: unit }, total: String(total) as Exact },
      ...{ line_items: [], warnings: [], external_invoice: null },
    } as unknown as Invoice;
  });
const invoices = fc.uniqueArray(invoice, { maxLength: 12, selector: ({ id }) => id });
/** As they are compared: no voided and no consolidated ones. */
const former = invoices.map((all) =>
  all.filter(({ status, type }) => status !== 'VOID' && type !== 'USAGE_CONSOLIDATED'),
);
const amountOf = (all: readonly Invoice[]) => sum(all.map(({ total }) => total)).toFixed();

it('a row of month end stands for each invoice, and their sum leaves out voided invoices and those that repeat others', () => {
  fc.assert(
    fc.property(invoices, former, (all, before) => {
      const rows = rowsOf(all, before);
      expect(rows.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
      const counted = all.filter(({ status, type }) => status !== 'VOID' && type !== 'USAGE_CONSOLIDATED');
      expect(sum(rows.map(({ total }) => total)).toFixed()).toBe(amountOf(counted));
      expect(sum(rows.map(({ amount }) => amount)).toFixed()).toBe(amountOf(all));
    }),
  );
});

it('an invoice of the month before stands beside one row at most, of its contract and currency, and those beside no row are the rest of their sum', () => {
  fc.assert(
    fc.property(invoices, former, (all, before) => {
      const rows = rowsOf(all, before);
      const compared = rows.flatMap(({ beforeId }) => beforeId ?? []);
      expect(new Set(compared).size).toBe(compared.length);
      for (const row of rows) {
        const found = before.find(({ id }) => id === row.beforeId);
        expect(row.before?.toFixed()).toBe(found === undefined ? undefined : new Big(found.total).toFixed());
        if (found === undefined) continue;
        expect([found.contract_id, found.credit_type.id]).toEqual([row.contractId, row.unit.id]);
        expect([found.type, row.type]).toEqual(['USAGE', 'USAGE']);
      }
      const alone = before.filter(({ id }) => !compared.includes(id));
      const inRows = sum(rows.flatMap((row) => row.before ?? []));
      expect(inRows.plus(amountOf(alone)).toFixed()).toBe(amountOf(before));
    }),
  );
});

/** A week of the contract that ends so many days after the start of the year. */
function week(id: string, endDay: number, total: string): Invoice {
  const end = START + endDay * DAY_MS;
  return {
    ...{ id, type: 'USAGE', status: 'FINALIZED', contract_id: 'a', customer_id: 'c', issued_at: day(end) },
    ...{ start_timestamp: day(end - 7 * DAY_MS), end_timestamp: day(end) },
    ...{
      credit_type: { id: 'usd', name: 'USD' },
      total,
      line_items: [],
      warnings: [],
      external_invoice: null,
    },
  } as unknown as Invoice;
}

it('weekly statements stand beside those of the month before in their order, and a fifth one beside none', () => {
  const weeks = [7, 14, 21, 28].map((at) => week(`old-${at}`, at, String(at)));
  const rows = rowsOf(
    [63, 42, 35, 56, 49].map((at) => week(`new-${at}`, at, '100')),
    weeks.toReversed(),
  );
  const texts = (row: MonthRow) => `${row.id} ${row.beforeId} ${row.isFurther}`;
  expect(rows.map(texts)).toEqual([
    'new-63 null true',
    'new-42 old-14 false',
    'new-35 old-7 false',
    'new-56 old-28 false',
    'new-49 old-21 false',
  ]);
});

it('the month of an invoice is the same in the console and in the naive engine', () => {
  fc.assert(
    fc.property(invoice, (one) => {
      expect(monthOfInvoice(one)).toBe(naiveMonth(one));
    }),
  );
});
