/**
 * An invoice always comes: events that a metric cannot be evaluated with are left out of it, with a warning that names
 * them, and everything else is billed.
 */
import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, it } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api } = service;

const PRODUCT_OF_TWO = 'SELECT SUM(properties.v * properties.w) AS value FROM events';
const PLAIN_SUM = 'SELECT SUM(properties.v) AS value FROM events';

let callsMetricId: string;

beforeAll(async () => {
  callsMetricId = await createdId(api, '/v1/billable-metrics/create', {
    name: 'Calls',
    aggregation_type: 'COUNT',
  });
});

interface Customer {
  readonly alias: string;
  readonly customerId: string;
  readonly contractId: string;
  readonly rateCardId: string;
  readonly metricId: string;
}

/** A customer who pays 1 for each unit of a SQL metric, and 1 for each event. */
async function createCustomer(
  alias: string,
  { query = PRODUCT_OF_TWO, granularity = 'HOUR' } = {},
): Promise<Customer> {
  const customerId = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const metricId = await createdId(api, '/v1/billable-metrics/create', { name: `Work ${alias}`, sql: query });
  const product = async (name: string, billable_metric_id: string) =>
    createdId(api, '/v1/contract-pricing/products/create', {
      name,
      type: 'USAGE',
      billable_metric_id,
      ...(billable_metric_id === metricId ? { sql_breakdown_granularity: granularity } : {}),
    });
  const products = [await product('Work', metricId), await product('Calls', callsMetricId)];
  const rateCardId = await createdId(api, '/v1/contract-pricing/rate-cards/create', { name: alias });
  await api.post('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id: rateCardId,
    rates: products.map((product_id) => ({
      product_id,
      starting_at: '2026-01-01T00:00:00Z',
      entitled: true,
      rate_type: 'FLAT',
      price: 1,
    })),
  });
  const contractId = await contractOf(customerId, rateCardId);
  return { alias, customerId, contractId, rateCardId, metricId };
}

async function contractOf(customerId: string, rateCardId: string): Promise<string> {
  return createdId(api, '/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
  });
}

async function send(alias: string, ...events: (readonly [id: string, at: string, v: string, w?: string])[]) {
  await api.post(
    '/v1/ingest',
    events.map(([id, at, v, w = '1']) => ({
      transaction_id: `${alias}-${id}`,
      customer_id: alias,
      event_type: 'use',
      timestamp: `2026-11-${at}:00:00Z`,
      properties: { v, w },
    })),
  );
}

async function invoicesOf({ customerId }: Customer, query: Record<string, string> = {}) {
  return api.get(`/v1/customers/${customerId}/invoices`, { query });
}

/** Name and total of each line of the first invoice. */
async function linesOf(customer: Customer, query: Record<string, string> = {}): Promise<string[]> {
  const invoices = await invoicesOf(customer, query);
  return invoices.list('data[0].line_items').map((_, index) => {
    const line = `data[0].line_items[${index}]`;
    return `${invoices.text(`${line}.name`)} ${invoices.digits(`${line}.total`)}`;
  });
}

async function warningsOf(customer: Customer, query: Record<string, string> = {}): Promise<unknown[]> {
  return [...(await invoicesOf(customer, query)).list('data[0].warnings')];
}

describe.each(['HOUR', 'SERVICE_PERIOD'])('with granularity %s', (granularity) => {
  it('an event whose numbers overflow is left out, named, and stays so on the issued invoice', async () => {
    const customer = await createCustomer(`one-${granularity}`, { granularity });
    await send(
      customer.alias,
      ['a', '02T10', '2', '3'],
      ['b', '03T10', '1e30', '1e30'],
      ['c', '04T10', '5', '7'],
    );
    const warning = {
      code: 'uncounted_events',
      billable_metric_id: customer.metricId,
      billable_metric_name: `Work ${customer.alias}`,
      event_count: 1,
      transaction_ids: [`${customer.alias}-b`],
      starting_at: '2026-11-01T00:00:00.000Z',
      ending_before: '2026-12-01T00:00:00.000Z',
    };
    expect(await linesOf(customer)).toEqual(['Work 41', 'Calls 3']);
    expect(await warningsOf(customer)).toEqual([expect.objectContaining(warning)]);
    const drafts = await invoicesOf(customer);
    expect(drafts.text('data[0].warnings[0].message')).toMatch(
      new RegExp(`^event "${customer.alias}-b" is not counted by "Work ${customer.alias}", because`),
    );
    const one = await api.get(`/v1/customers/${customer.customerId}/invoices/${drafts.text('data[0].id')}`);
    expect(one.at('data')).toEqual(drafts.at('data[0]'));
  });
});

it('several such events at different times are all found, and the rest of their hours is counted', async () => {
  const customer = await createCustomer('several');
  await send(
    'several',
    ['x1', '02T10', '1e30', '1e30'],
    ['ok1', '02T10', '10', '2'],
    ['x2', '02T10', '1e30', '1e20'],
    ['ok2', '05T10', '3', '3'],
    ['x3', '09T23', '-1e30', '1e30'],
  );
  expect(await linesOf(customer)).toEqual(['Work 29', 'Calls 5']);
  expect(await warningsOf(customer)).toMatchObject([
    { event_count: 3, transaction_ids: ['several-x1', 'several-x2', 'several-x3'] },
  ]);
});

it('a hundred events are named; beyond, all later events are left out and counted', async () => {
  const customer = await createCustomer('hundreds');
  const poison = Array.from({ length: 130 }, (_, index) => {
    return [`x${String(index).padStart(3, '0')}`, '03T10', '1e30', '1e30'] as const;
  });
  await send('hundreds', ['first', '02T10', '2', '3'], ...poison.slice(0, 50));
  await send('hundreds', ...poison.slice(50), ['last', '04T10', '5', '7']);
  const drafts = await invoicesOf(customer);
  expect(drafts.digits('data[0].total')).toBe(String(6 + 132));
  expect(drafts.at('data[0].warnings[0].event_count')).toBe(131);
  const named = drafts.list('data[0].warnings[0].transaction_ids');
  expect(named).toEqual(poison.slice(0, 100).map(([id]) => `hundreds-${id}`));
}, 120_000);

it('numbers that overflow only together are counted up to the event with which they do', async () => {
  const customer = await createCustomer('together', { query: PLAIN_SUM });
  // 36 digits each: the sum of 10,011 has more than 40.
  const large = `999${'0'.repeat(33)}`;
  await service.clickhouse.command(`
    INSERT INTO usage_events (transaction_id, customer_ref, event_type, timestamp, properties, ingested_at, version)
    SELECT concat('t-', leftPad(toString(number), 5, '0')), 'together', 'use',
      toDateTime64('2026-11-01 00:00:00', 3, 'UTC') + toIntervalSecond(number),
      map('v', '${large}'), toDateTime64('2026-11-05 00:00:00', 6, 'UTC'), 1
    FROM numbers(10100)`);
  const drafts = await invoicesOf(customer);
  expect(drafts.digits('data[0].line_items[0].quantity')).toBe(String(BigInt(large) * 10_010n));
  expect(drafts.at('data[0].warnings[0].event_count')).toBe(90);
}, 120_000);

it('the usage endpoints name the metric and the event', async () => {
  const customer = await createCustomer('usage');
  await send('usage', ['a', '02T10', '2', '3'], ['b', '03T10', '1e30', '1e30']);
  const range = {
    starting_on: '2026-11-01T00:00:00Z',
    ending_before: '2026-12-01T00:00:00Z',
    window_size: 'DAY',
  };
  const groups = await api.send('POST', '/v1/usage/groups', {
    customer_id: customer.customerId,
    billable_metric_id: customer.metricId,
    ...range,
  });
  const batch = await api.send('POST', '/v1/usage', {
    customer_ids: [customer.customerId],
    billable_metrics: [{ id: customer.metricId }],
    ...range,
  });
  for (const answer of [groups, batch]) {
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toBe(
      'metric "Work usage" cannot be computed with event "usage-b": a number has more than 36 digits before the point',
    );
  }
});

it('the figures for operators count each warning once', async () => {
  const customer = await createCustomer('figures');
  const count = async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    return Number(/^tallyhouse_invoice_warnings_total\{code="uncounted_events"\} (\d+)$/m.exec(text)?.[1]);
  };
  const before = await count();
  await send('figures', ['x', '03T10', '1e30', '1e30']);
  await invoicesOf(customer);
  await invoicesOf(customer);
  expect(await count()).toBe(before + 1);
});

it('a draft that cannot be computed withholds no other draft of the page', async () => {
  const broken = await createCustomer('broken');
  await send('broken', ['a', '02T10', '2', '3']);
  const other = await createdId(api, '/v1/contract-pricing/rate-cards/create', { name: 'other' });
  const contractId = await contractOf(broken.customerId, other);
  const unit = await createdId(api, '/v1/credit-types/create', { name: 'Unit of broken' });
  // The state of a bug: a price in a unit that the card does not convert.
  await service.db.execute(
    sql`update rates set credit_type_id = ${unit} where identity in
      (select sequence from rate_identities where rate_card_id = ${broken.rateCardId})`,
  );
  const invoices = await invoicesOf(broken);
  const byContract = new Map(
    invoices.list('data').map((_, index) => [invoices.text(`data[${index}].contract_id`), index]),
  );
  const bad = `data[${byContract.get(broken.contractId)}]`;
  expect(invoices.at(bad)).toMatchObject({
    status: 'DRAFT',
    line_items: [],
    warnings: [{ code: 'not_computed', starting_at: '2026-11-01T00:00:00.000Z' }],
  });
  expect(invoices.at(`data[${byContract.get(contractId)}].warnings`)).toEqual([]);
  const alone = await api.send(
    'GET',
    `/v1/customers/${broken.customerId}/invoices/${invoices.text(`${bad}.id`)}`,
  );
  expect(alone.status).toBe(500);
});

it('is issued with its warnings', async () => {
  const customer = await createCustomer('issued');
  await send('issued', ['a', '02T10', '2', '3'], ['b', '03T10', '1e30', '1e30']);
  const [draft] = await warningsOf(customer);
  await service.moveClock('2027-01-03T00:00:00Z');
  const query = { status: 'FINALIZED', sort: 'date_asc' };
  expect(await linesOf(customer, query)).toEqual(['Work 6', 'Calls 2']);
  expect(await warningsOf(customer, query)).toEqual([draft]);
  const issued = await invoicesOf(customer, query);
  // Of both periods: the next one is not held up.
  expect(issued.list('data')).toHaveLength(2);
  const path = `/v1/customers/${customer.customerId}/invoices/${issued.text('data[0].id')}`;
  expect((await api.get(path)).at('data.unbilled_late_usage')).toEqual([]);
}, 120_000);
