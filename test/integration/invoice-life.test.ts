/** The life of an invoice in the log and in /metrics. */
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario } from '../support/scenario.ts';

const record = z.record(z.string(), z.unknown());
const logged: z.infer<typeof record>[] = [];
const log = pino({ level: 'info' }, { write: (text: string) => logged.push(record.parse(JSON.parse(text))) });
const service = await serviceForFile({ usage: 'naive', sandboxNow: '2026-11-10T00:00:00Z', log });
const { api, db } = service;

const of = (message: string) => logged.filter(({ msg }) => msg === message);

/** The samples of a measure by their labels. */
async function measure(name: string): Promise<Record<string, number>> {
  const text = String((await api.get('/metrics')).body);
  const samples = text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return Object.fromEntries(
    samples.map((line) => [line.slice(name.length, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  );
}

test('an invoice is logged with its ids and its total when it is finalized, numbered, voided and regenerated', async () => {
  const startedAt = Date.now() / 1000;
  const { customerId, contractId } = await createScenario(api, {
    alias: 'ada',
    endingBefore: '2026-11-20T00:00:00Z',
  });
  await api.post('/v1/ingest', [completion('ada', { id: 'e1', at: '2026-11-03T10:00:00Z', tokens: 100 })]);
  await service.moveClock('2026-11-22T00:00:00Z');
  const id = (await api.get(`/v1/customers/${customerId}/invoices`)).text('data[0].id');
  const facts = {
    invoice_id: id,
    customer_id: customerId,
    contract_id: contractId,
    type: 'USAGE',
    total: '5',
  };
  expect(of('an invoice was finalized')).toMatchObject([
    {
      ...{ ...facts, level: 30, status: 'FINALIZED', issued_at: '2026-11-21T00:00:00.000Z' },
      ...{ period_start: '2026-11-01T00:00:00.000Z', period_end: '2026-11-20T00:00:00.000Z' },
    },
  ]);
  expect(of('an invoice was numbered')).toMatchObject([
    { invoice_id: id, invoice_number: 'INV-2026-000001' },
  ]);
  await api.post('/v1/invoices/void', { id });
  expect(of('an invoice was voided')).toMatchObject([{ ...facts, status: 'VOID' }]);
  const again = (await api.post('/v1/invoices/regenerate', { id })).text('data.id');
  expect(of('an invoice was regenerated')).toMatchObject([
    { ...facts, invoice_id: again, regenerated_from_invoice_id: id },
  ]);
  await service.moveClock('2026-11-22T01:00:00Z');
  expect(await measure('tallyhouse_invoices_total')).toEqual({
    '{event="finalized"}': 1,
    '{event="regenerated"}': 1,
    '{event="voided"}': 1,
    '{event="numbered"}': 2,
  });
  const [last] = Object.values(await measure('tallyhouse_invoices_last_finalized_timestamp_seconds'));
  expect(last).toBeGreaterThanOrEqual(startedAt);
  const done = await measure('tallyhouse_jobs_last_done_timestamp_seconds');
  expect(done['{kind="finalize_usage_invoice"}']).toBeGreaterThanOrEqual(startedAt);
  expect(done['{kind="issue_scheduled_invoice"}']).toBe(0);
});

test('a scheduled invoice is logged too', async () => {
  const customerId = await createdId(api, '/v1/customers', { name: 'scheduled' });
  const fee = await createdId(api, '/v1/contract-pricing/products/create', { name: 'Fee', type: 'FIXED' });
  await createdId(api, '/v1/contracts/create', {
    customer_id: customerId,
    starting_at: '2026-11-01T00:00:00Z',
    scheduled_charges: [
      { product_id: fee, schedule: { schedule_items: [{ timestamp: '2026-11-23T00:00:00Z', amount: 500 }] } },
    ],
  });
  await service.moveClock('2026-11-24T00:00:00Z');
  const own = of('an invoice was finalized').filter(({ customer_id }) => customer_id === customerId);
  expect(own).toMatchObject([{ type: 'SCHEDULED', total: '500', issued_at: '2026-11-23T00:00:00.000Z' }]);
});

test('warnings are counted by code, once for each invoice, and overdue invoices are counted', async () => {
  const { customerId, contractId } = await createScenario(api, { alias: 'bob' });
  await api.post('/v1/ingest', [
    completion('bob', { id: 'e2', at: '2026-11-03T10:00:00Z', tokens: 1, model: 'unknown' }),
    completion('bob', { id: 'e3', at: '2026-11-04T10:00:00Z', tokens: 1, model: 'other' }),
  ]);
  await api.get(`/v1/customers/${customerId}/invoices`);
  await api.get(`/v1/customers/${customerId}/invoices`);
  expect(await measure('tallyhouse_invoice_warnings_total')).toMatchObject({
    '{code="unpriced_usage"}': 1,
    '{code="unrated_terms"}': 0,
    '{code="uncounted_events"}': 0,
  });
  expect(Object.values(await measure('tallyhouse_invoices_overdue'))).toEqual([0]);
  // A job that fails: it waits for its next try, and its time goes by.
  await db.execute(sql`
    update jobs set run_at = '2026-11-23T00:00:00Z', attempts = 1, retry_at = '2200-01-01T00:00:00Z'
    where subject = ${contractId}`);
  await expect.poll(async () => Object.values(await measure('tallyhouse_invoices_overdue'))).toEqual([1]);
});

test('invoices that are voided with their contract or their customer are logged and counted as others', async () => {
  const ofContract = await createScenario(api, { alias: 'carl' });
  const ofCustomer = await createScenario(api, { alias: 'dora' });
  const both = [ofContract.customerId, ofCustomer.customerId];
  await service.moveClock('2027-01-05T00:00:00Z');
  const issued = of('an invoice was finalized').filter(({ customer_id: id }) => both.includes(String(id)));
  const before = (await measure('tallyhouse_invoices_total'))['{event="voided"}'] ?? 0;
  await api.post('/v1/contracts/archive', {
    ...{ customer_id: ofContract.customerId, contract_id: ofContract.contractId, void_invoices: true },
  });
  await api.post('/v1/customers/archive', { id: ofCustomer.customerId });
  const voided = of('an invoice was voided').filter(({ customer_id: id }) => both.includes(String(id)));
  expect(voided.map(({ invoice_id: id }) => id).sort()).toEqual(
    issued.map(({ invoice_id: id }) => id).sort(),
  );
  expect(voided.length).toBeGreaterThan(1);
  expect(voided.every(({ status }) => status === 'VOID')).toBe(true);
  const after = (await measure('tallyhouse_invoices_total'))['{event="voided"}'];
  expect(after).toBe(before + voided.length);
});
