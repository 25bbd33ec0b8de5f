/** Reconciliation finds nothing where everything is right, and names what was changed by hand. */
import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { reconcileInvoices } from '../../src/billing/invoices/reconcile/reconcile.ts';
import { billingContext } from '../support/billing-context.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { type Reconciled, reconcile } from '../support/reconciled.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api, db, clickhouse } = service;
const NOVEMBER = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };
const fee = await createdId(api, '/v1/contract-pricing/products/create', { name: 'Fee', type: 'FIXED' });

let people = 0;
let events = 0;
let now = Date.parse('2026-11-10T00:00:00Z');
const HOUR_MS = 3_600_000;

const event = (alias: string, at: string, tokens: number, model = 'large') => {
  events += 1;
  return completion(alias, { id: `e${events}`, at, tokens, model });
};

interface Customer extends Scenario {
  readonly alias: string;
}

/** Contracts of ten days; usage on two of them, in two tiers, and by two models. */
async function customerWithUsage(terms: object = {}): Promise<Customer> {
  people += 1;
  const alias = `customer-${people}`;
  // Before the contract, whose invoice is due as soon as it exists.
  await api.post('/v1/ingest', [
    event(alias, '2026-11-03T10:20:00Z', 900),
    event(alias, '2026-11-04T11:20:00Z', 200),
    event(alias, '2026-11-04T12:20:00Z', 7, 'small'),
  ]);
  const scenario = await createScenario(api, {
    alias,
    startingAt: '2026-11-01T00:00:00Z',
    endingBefore: '2026-11-09T00:00:00Z',
    ...terms,
  });
  return { ...scenario, alias };
}

async function issue(): Promise<void> {
  // Jobs that are due without a move of the clock are done, too.
  now += HOUR_MS;
  await service.moveClock(now);
}

const check = (customer: Customer) => reconcile(api, { ...NOVEMBER, customer_id: customer.customerId });

async function invoiceOf({ customerId }: Customer): Promise<string> {
  return (await api.get(`/v1/customers/${customerId}/invoices`)).text('data[0].id');
}

const nothing: Partial<Reconciled> = { differences: [], late: [], unchecked: [] };

describe('an issued invoice', () => {
  let customer: Customer;
  let invoice = '';
  beforeEach(async () => {
    customer = await customerWithUsage();
    await issue();
    invoice = await invoiceOf(customer);
  });

  test('an issued invoice that nobody has changed agrees with everything', async () => {
    expect(await check(customer)).toMatchObject({ ...nothing, invoices: 1 });
  });

  test('an issued invoice is named with the line whose total was changed', async () => {
    await db.execute(sql`
      update invoice_line_items set total = total + 1 where invoice_id = ${invoice} and position = 1`);
    expect((await check(customer)).differences).toEqual([
      'line_total total 30 → 31, line 2 "Tokens"',
      'invoice_total total 39.035 → 38.035',
      'recomputed_line total 30 → 31, line 2 "Tokens"',
      'hours total 31 → 30, line 2 "Tokens"',
    ]);
  });

  test('an issued invoice is named with the line whose quantity and total were changed alike', async () => {
    await db.execute(sql`
      update invoice_line_items set quantity = quantity + 100, total = total + 3
      where invoice_id = ${invoice} and position = 1`);
    await db.execute(sql`update invoices set total = total + 3 where id = ${invoice}`);
    const { differences } = await check(customer);
    expect(differences).toEqual([
      'recomputed_line quantity 1000 → 1100, line 2 "Tokens"',
      'recomputed_line total 30 → 33, line 2 "Tokens"',
      'hours quantity 1100 → 1000, line 2 "Tokens"',
      'hours total 33 → 30, line 2 "Tokens"',
    ]);
  });

  test('an issued invoice is named when its total was changed', async () => {
    await db.execute(sql`update invoices set total = 1 where id = ${invoice}`);
    expect((await check(customer)).differences).toEqual(['invoice_total total 38.035 → 1']);
  });

  test('an issued invoice is named when a line was removed, or another added', async () => {
    await db.execute(sql`delete from invoice_line_items where invoice_id = ${invoice} and position = 3`);
    const { differences } = await check(customer);
    expect(differences).toContain('recomputed_line total 0.035 → none');
    expect(differences).toContain('invoice_total total 38 → 38.035');
    expect(differences).toContain('hours total none → 0.035, line 4 undefined 2026-11-04T12');
    await db.execute(sql`
      insert into invoice_line_items
      select (jsonb_populate_record(line,
        '{"position": 3, "name": "Extra", "pricing_group_values": {"model": "other"}}')).*
      from invoice_line_items line where invoice_id = ${invoice} and position = 1`);
    expect((await check(customer)).differences).toContain('recomputed_line total none → 30, line 4 "Extra"');
  });

  test('an issued invoice is named with the hour that was changed', async () => {
    const [row] = await db.execute<{ breakdown_id: string }>(
      sql`select breakdown_id from invoices where id = ${invoice}`,
    );
    const hour = Date.parse('2026-11-05T10:00:00Z') / 1000;
    // A second row of the first line: 5 tokens more than the events have.
    await clickhouse.insertRows({
      table: 'invoice_hourly_lines',
      columns: ['breakdown_id', 'line_index', 'first_hour', 'hours', 'quantities', 'amounts'],
      rows: Buffer.from(`${JSON.stringify([row?.breakdown_id, 1, hour, [hour], ['5'], ['0.15']])}\n`),
    });
    expect((await check(customer)).differences).toEqual([
      'hours quantity 1000 → 1005, line 2 "Tokens"',
      'hours total 30 → 30.15, line 2 "Tokens"',
    ]);
  });

  test('an issued invoice is named with the hours between which usage was moved, though they add up', async () => {
    const [row] = await db.execute<{ breakdown_id: string }>(
      sql`select breakdown_id from invoices where id = ${invoice}`,
    );
    const hours = ['2026-11-05T10:00:00Z', '2026-11-05T11:00:00Z'].map((at) => Date.parse(at) / 1000);
    await clickhouse.insertRows({
      table: 'invoice_hourly_lines',
      columns: ['breakdown_id', 'line_index', 'first_hour', 'hours', 'quantities', 'amounts'],
      rows: Buffer.from(
        `${JSON.stringify([row?.breakdown_id, 1, hours[0], hours, ['5', '-5'], ['0.15', '-0.15']])}\n`,
      ),
    });
    expect((await check(customer)).differences).toEqual([
      'recomputed_hour quantity 0 → 5, line 2 "Tokens" 2026-11-05T10',
      'recomputed_hour total 0 → 0.15, line 2 "Tokens" 2026-11-05T10',
      'recomputed_hour quantity 0 → -5, line 2 "Tokens" 2026-11-05T11',
      'recomputed_hour total 0 → -0.15, line 2 "Tokens" 2026-11-05T11',
    ]);
  });

  test('an issued invoice is named when the frozen rows of its terms have other prices', async () => {
    const [terms] = await db.execute<{ id: string }>(
      sql`select card_terms_id as id from invoices where id = ${invoice}`,
    );
    await db.execute(sql`
      update invoice_terms set terms = replace(terms::text, '"0.005"', '"0.006"')::jsonb where id = ${terms?.id}`);
    const { differences } = await check(customer);
    expect(differences).toEqual([
      'recomputed_line unit_price 0.006 → 0.005, line 4 "Tokens"',
      'recomputed_line total 0.042 → 0.035, line 4 "Tokens"',
    ]);
  });

  test('an issued invoice shows usage that came later with what it would have added, and that is no difference', async () => {
    await api.post('/v1/ingest', [event(customer.alias, '2026-11-05T10:00:00Z', 100)]);
    expect(await check(customer)).toMatchObject({
      differences: [],
      late: ['Requests 1 = 2', 'Tokens 100 = 2'],
    });
  });

  test('an issued invoice is checked for its sums when it is voided, and its regenerated one for everything', async () => {
    await api.post('/v1/invoices/void', { id: invoice });
    await api.post('/v1/invoices/regenerate', { id: invoice });
    expect(await check(customer)).toMatchObject({ ...nothing, invoices: 2 });
    await db.execute(sql`update invoices set total = 1 where id = ${invoice}`);
    expect((await check(customer)).differences).toEqual(['invoice_total total 38.035 → 1']);
  });
});

test('a draft agrees with itself, before and after events arrive', async () => {
  const customer = await customerWithUsage({ endingBefore: '2026-12-01T00:00:00Z' });
  expect(await check(customer)).toMatchObject({ ...nothing, invoices: 1 });
  await api.post('/v1/ingest', [event(customer.alias, '2026-11-08T10:00:00Z', 100)]);
  expect(await check(customer)).toMatchObject({ ...nothing, invoices: 1 });
});

test('an invoice that is due and not issued is named', async () => {
  const customer = await customerWithUsage({ endingBefore: new Date(now + HOUR_MS).toISOString() });
  await db.execute(sql`delete from jobs where subject = ${customer.contractId}`);
  now += 26 * HOUR_MS;
  await service.moveClock(now);
  expect((await check(customer)).differences).toEqual(['not_issued']);
});

test('a scheduled line that is not what its schedule says is named', async () => {
  const customerId = await createdId(api, '/v1/customers', { name: 'scheduled' });
  await createdId(api, '/v1/contracts/create', {
    customer_id: customerId,
    starting_at: '2026-11-01T00:00:00Z',
    scheduled_charges: [
      { product_id: fee, schedule: { schedule_items: [{ timestamp: '2026-11-02T00:00:00Z', amount: 500 }] } },
      { product_id: fee, schedule: { schedule_items: [{ timestamp: '2027-11-02T00:00:00Z', amount: 500 }] } },
    ],
  });
  await issue();
  const query = { ...NOVEMBER, customer_id: customerId };
  expect(await reconcile(api, query)).toMatchObject({ ...nothing, invoices: 1 });
  await db.execute(sql`
    update invoice_line_items set total = 400, unit_price = 400
    where invoice_id in (select id from invoices where customer_id = ${customerId})`);
  expect((await reconcile(api, query)).differences).toEqual([
    'invoice_total total 400 → 500',
    'scheduled_amount unit_price 500 → 400, line 1 "Fee"',
    'scheduled_amount total 500 → 400, line 1 "Fee"',
  ]);
});

test('pages continue where the last one ended, by size and by time, and a customer without invoices has no row', async () => {
  await createdId(api, '/v1/customers', { name: 'without invoices' });
  const whole = await reconcile(api, NOVEMBER);
  expect(whole.customers.length).toBeGreaterThan(5);
  expect(new Set(whole.customers).size).toBe(whole.customers.length);
  const parts = await reconcile(api, NOVEMBER, 3);
  expect(parts.pages).toBeGreaterThan(2);
  expect({ ...parts, pages: 1 }).toEqual({ ...whole, pages: 1 });
  const context = billingContext({ db, clickhouse, clock: { now: () => now } });
  const range = { start: Date.parse(NOVEMBER.starting_on), end: Date.parse(NOVEMBER.ending_before) };
  const input = { range, customerId: null, after: null, limit: 100 };
  const first = await reconcileInvoices(context, input, 0);
  expect(first.next).not.toBeNull();
  expect(first.rows.length).toBeLessThanOrEqual(1);
  expect(first.customersLeft).toBeGreaterThan(5);
});

test('an unknown customer, and a range without time, are refused', async () => {
  const send = (body: object) => api.send('POST', '/v1/invoices/reconcile', body);
  const unknown = await send({ ...NOVEMBER, customer_id: '11111111-1111-4111-8111-111111111111' });
  expect(unknown.status).toBe(404);
  const empty = await send({ ...NOVEMBER, ending_before: NOVEMBER.starting_on });
  expect([empty.status, empty.text('message')]).toEqual([400, 'ending_before: must be after starting_on']);
});
