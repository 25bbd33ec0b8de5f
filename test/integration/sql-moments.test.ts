/** Answers of POST /v1/sql while invoices are issued, voided and regenerated: all of one moment, in every view. */
import { beforeEach, expect, test } from 'vitest';
import { queryRows } from '../../src/billing/sql/run-query.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { beforeQuery } from '../support/before-query.ts';
import { billingContext } from '../support/billing-context.ts';
import { startTestService, type TestService } from '../support/service.ts';
import {
  createThresholdCatalogue,
  createThresholdCustomer,
  type ThresholdCustomer,
} from '../support/thresholds.ts';

let service: TestService;
let customer: ThresholdCustomer;

/** A credit of 31 for three months, and 60 tokens in November, at one cent each. */
beforeEach(async () => {
  service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
  const catalogue = await createThresholdCatalogue(service.api);
  customer = await createThresholdCustomer(service.api, catalogue, {
    recurring_credits: [
      {
        product_id: catalogue.fee,
        access_amount: { unit_price: 31, quantity: 1, credit_type_id: USD_CENTS.id },
        commit_duration: { value: 3 },
        priority: 1,
        starting_at: '2026-11-01T00:00:00Z',
        ending_before: '2026-12-01T00:00:00Z',
      },
    ],
  });
  await customer.use(60, '2026-11-05T12:00:00Z');
  return () => service.close();
});

/** Every view that an invoice is in, and what is left of the credit. */
const EVERY_VIEW = `
  SELECT 'invoice' AS what, i.invoice_status AS status, i.total AS amount FROM invoices i
  UNION ALL SELECT 'hours' AS what, '' AS status, SUM(h.total) AS amount FROM invoice_hours h
  UNION ALL SELECT 'line' AS what, l.invoice_status AS status, l.total AS amount FROM invoice_lines l
  UNION ALL SELECT 'left' AS what, '' AS status, b.balance AS amount FROM balances b`;

/** The rows, sorted. `meanwhile` is done when one part of PostgreSQL is read, and the others are not. */
async function answer(meanwhile: () => Promise<unknown> = async () => {}): Promise<string[]> {
  const { clickhouse } = beforeQuery(service.clickhouse, 0, meanwhile);
  const context = billingContext({
    db: service.db,
    clickhouse,
    clock: { now: () => Date.UTC(2026, 11, 3) },
  });
  const { rows } = await queryRows(context, { sql: EVERY_VIEW });
  const all: string[] = [];
  for await (const part of rows) all.push(...part.map((cells) => cells.join(' ')));
  return all.toSorted();
}

const issue = () => service.moveClock('2026-12-03T00:00:00Z');
async function idOf(status: string): Promise<string> {
  const query = { status, type: 'USAGE' };
  const listed = await service.api.get(`/v1/customers/${customer.customerId}/invoices`, { query });
  return listed.text('data[0].id');
}
const voidIt = async () => service.api.post('/v1/invoices/void', { id: await idOf('FINALIZED') });
const regenerateIt = async () => service.api.post('/v1/invoices/regenerate', { id: await idOf('VOID') });

const both = async () => {
  await voidIt();
  await regenerateIt();
};

const DRAFT = ['left  31'];
const issuedAs = (status: string, left: string) => [
  `invoice ${status} 29`,
  `left  ${left}`,
  `line ${status} -31`,
  `line ${status} 29`,
  `line ${status} 31`,
];

test.each<
  [what: string, before: readonly (() => Promise<unknown>)[], then: () => Promise<unknown>, was: string[]]
>([
  ['issued', [], issue, DRAFT],
  ['voided', [issue], voidIt, issuedAs('FINALIZED', '0')],
  ['voided and regenerated', [issue], both, issuedAs('FINALIZED', '0')],
  ['regenerated', [issue, voidIt], regenerateIt, issuedAs('VOID', '31')],
])('an invoice that is %s meanwhile is in no view as it is afterwards', async (_, before, then, was) => {
  for (const step of before) await step();
  const shown = await answer();
  expect(shown.filter((row) => !row.startsWith('hours'))).toEqual(was.toSorted());
  expect(await answer(then)).toEqual(shown);
  expect(await answer()).not.toEqual(shown);
});
