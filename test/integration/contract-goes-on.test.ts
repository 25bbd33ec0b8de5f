/**
 * Invoices that bill a part of a billing period: when an ended, invoiced contract is extended, and when invoices
 * start inside a period. Counters run over the whole billing period, so the parts together bill what one
 * invoice would have billed.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let rateCardId: string;

const PRODUCTS = {
  users: { aggregation_type: 'unique', aggregation_key: 'user' },
  peak: { aggregation_type: 'max', aggregation_key: 'units' },
  level: { aggregation_type: 'latest', aggregation_key: 'units' },
  calls: { aggregation_type: 'count' },
  'units by query': { sql: 'SELECT SUM(properties.units) AS value FROM events' },
  'units by query and hour': { sql: 'SELECT SUM(properties.units) AS value FROM events' },
};

beforeAll(async () => {
  service = await startTestService({ sandboxNow: '2026-11-21T00:00:00Z' });
  const { api } = service;
  rateCardId = await createdId(api, '/v1/contract-pricing/rate-cards/create', { name: 'card' });
  for (const [name, metric] of Object.entries(PRODUCTS)) {
    const key = 'aggregation_key' in metric ? [{ name: metric.aggregation_key, exists: true }] : [];
    const filter = { event_type_filter: { in_values: ['call'] }, property_filters: key };
    const productId = await createdId(api, '/v1/contract-pricing/products/create', {
      name,
      type: 'USAGE',
      billable_metric_id: await createdId(api, '/v1/billable-metrics/create', {
        name,
        ...metric,
        ...('sql' in metric ? {} : filter),
      }),
      ...(name === 'units by query and hour' ? { sql_breakdown_granularity: 'HOUR' } : {}),
    });
    await api.post('/v1/contract-pricing/rate-cards/addRate', {
      rate_card_id: rateCardId,
      product_id: productId,
      starting_at: '2026-01-01T00:00:00Z',
      entitled: true,
      ...(name === 'calls'
        ? { rate_type: 'TIERED', tiers: [{ size: 3, price: 0 }, { price: 10 }] }
        : { rate_type: 'FLAT', price: 1 }),
    });
  }
});
afterAll(() => service.close());

type Use = readonly [day: number, user: string, units: number];

/** A contract over usage that is there already, so that no job runs in between. */
async function contractOf(alias: string, usage: readonly Use[], terms: object = {}) {
  const customerId = await createdId(service.api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  for (const each of usage) await use(alias, ...each);
  const contractId = await createdId(service.api, '/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
    ...terms,
  });
  return { customerId, contractId };
}

async function use(alias: string, ...[day, user, units]: Use): Promise<void> {
  await service.api.post('/v1/ingest', [
    {
      transaction_id: `${alias}-${day}-${user}`,
      customer_id: alias,
      event_type: 'call',
      timestamp: `2026-11-${String(day).padStart(2, '0')}T10:00:00Z`,
      properties: { user, units },
    },
  ]);
}

interface Part {
  readonly days: string;
  readonly status: string;
  /** Quantity by product; lines of several tiers are summed. */
  readonly quantities: Readonly<Record<string, number>>;
  readonly total: number;
}

/** In the order of their periods. Amounts here are small whole numbers. */
async function invoicesOf(customerId: string): Promise<Part[]> {
  const page = await service.api.get(`/v1/customers/${customerId}/invoices`, { query: { sort: 'date_asc' } });
  return page.list('data').map((_, index) => {
    const at = `data[${index}]`;
    const quantities: Record<string, number> = {};
    for (const line of page.list(`${at}.line_items`).keys()) {
      const name = page.text(`${at}.line_items[${line}].name`);
      const quantity = Number(page.digits(`${at}.line_items[${line}].quantity`));
      quantities[name] = (quantities[name] ?? 0) + quantity;
    }
    const day = (name: string) => page.text(`${at}.${name}`).slice(5, 10);
    return {
      days: `${day('start_timestamp')} to ${day('end_timestamp')}`,
      status: page.text(`${at}.status`),
      quantities,
      total: Number(page.digits(`${at}.total`)),
    };
  });
}

it('a contract that ended, was issued and continues bills the difference to what is issued', async () => {
  const usage = [
    [2, 'ada', 5],
    [3, 'bob', 9],
    [4, 'ada', 7],
  ] as const;
  const ended = await contractOf('ended', usage, { ending_before: '2026-11-10T00:00:00Z' });
  const twin = await contractOf('twin', usage);
  await service.moveClock('2026-11-21T00:00:01Z');
  await service.api.post('/v1/contracts/updateEndDate', {
    customer_id: ended.customerId,
    contract_id: ended.contractId,
    ending_before: null,
  });
  for (const alias of ['ended', 'twin']) {
    await use(alias, 12, 'ada', 4);
    await use(alias, 20, 'cleo', 8);
  }
  await service.moveClock('2026-12-03T00:00:00Z');
  const [first, second, next] = await invoicesOf(ended.customerId);
  const [whole] = await invoicesOf(twin.customerId);
  expect(first).toEqual({
    days: '11-01 to 11-10',
    status: 'FINALIZED',
    quantities: {
      users: 2,
      peak: 9,
      level: 7,
      calls: 3,
      'units by query': 21,
      'units by query and hour': 21,
    },
    total: 60,
  });
  expect(second).toEqual({
    days: '11-10 to 12-01',
    status: 'FINALIZED',
    quantities: {
      users: 1,
      peak: 0,
      level: 1,
      calls: 2,
      'units by query': 12,
      'units by query and hour': 12,
    },
    total: 46,
  });
  expect(next).toMatchObject({ days: '12-01 to 01-01', status: 'DRAFT' });
  expect(whole?.total).toBe(106);
  const page = await service.api.get(`/v1/customers/${ended.customerId}/invoices`, {
    query: { sort: 'date_asc' },
  });
  for (const index of [0, 1]) {
    const id = page.text(`data[${index}].id`);
    const invoice = await service.api.get(`/v1/customers/${ended.customerId}/invoices/${id}`);
    expect(invoice.at('data.unbilled_late_usage')).toEqual([]);
  }
});

it('an invoice that is generated from a date inside a period bills from there on', async () => {
  const usage = [
    [2, 'ada', 5],
    [3, 'bob', 9],
    [20, 'ada', 7],
  ] as const;
  const late = await contractOf('late', usage, {
    usage_statement_schedule: {
      frequency: 'MONTHLY',
      invoice_generation_starting_at: '2026-11-15T00:00:00Z',
    },
  });
  const [only, ...others] = await invoicesOf(late.customerId);
  expect(others.filter(({ days }) => days < '12-01')).toEqual([]);
  expect(only).toMatchObject({
    days: '11-15 to 12-01',
    quantities: {
      users: 0,
      peak: 0,
      level: -2,
      calls: 1,
      'units by query': 7,
      'units by query and hour': 7,
    },
    total: 12,
  });
});
