/** The metrics of a customer, and what the definition of a metric does with the events of a real request. */
import { describe, expect, it } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import {
  ADD_RATE,
  CONTRACTS,
  createdId,
  METRICS,
  PRODUCTS,
  RATE_CARDS,
  TOKENS_METRIC,
} from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

function create(path: string, body: unknown): Promise<string> {
  return createdId(service.api, path, body);
}

function newMetric(name: string): Promise<string> {
  return create(METRICS, { ...TOKENS_METRIC, name });
}

function listed(customer: string, query: Record<string, string | number | boolean> = {}): Promise<ApiAnswer> {
  return service.api.get(`/v1/customers/${customer}/billable-metrics`, { query });
}

function idsOf(answer: ApiAnswer): string[] {
  return answer.list('data').map((_, index) => answer.text(`data[${index}].id`));
}

/** A product on the metric with a rate on the card. */
async function price(card: string, metric: string): Promise<string> {
  const product = await create(PRODUCTS, { name: 'Product', type: 'USAGE', billable_metric_id: metric });
  await service.api.post(ADD_RATE, {
    rate_card_id: card,
    product_id: product,
    starting_at: '2026-01-01T00:00:00Z',
    entitled: true,
    rate_type: 'FLAT',
    price: 1,
  });
  return product;
}

describe('the metrics of a customer', () => {
  it('the metrics of a customer are all metrics, each with the fields of older clients, in pages', async () => {
    const customer = await create('/v1/customers', { name: 'All' });
    const made = [await newMetric('One'), await newMetric('Two'), await newMetric('Three')];
    const rows: unknown[] = [];
    const ids: string[] = [];
    for (let next: string | undefined = ''; next !== undefined; ) {
      const page = await listed(customer, { limit: 2, ...(next === '' ? {} : { next_page: next }) });
      rows.push(...page.list('data'));
      ids.push(...idsOf(page));
      next = page.at('next_page') === null ? undefined : page.text('next_page');
    }
    const all = await service.api.get('/v1/billable-metrics', { query: { limit: 100 } });
    expect(ids).toEqual(idsOf(all).toSorted());
    expect(ids).toEqual(expect.arrayContaining(made));
    expect(rows[ids.indexOf(made[0] ?? '')]).toEqual({
      id: made[0],
      ...TOKENS_METRIC,
      name: 'One',
      custom_fields: {},
      group_by: ['model', 'region'],
      aggregate: 'SUM',
      aggregate_keys: ['tokens'],
      filter: { event_type: ['completion'], region: ['eu', 'us'] },
    });
  });

  it('the metrics of a customer leave out archived ones unless asked for', async () => {
    const customer = await create('/v1/customers', { name: 'Archive' });
    const metric = await newMetric('Archived');
    await service.api.post('/v1/billable-metrics/archive', { id: metric });
    expect(idsOf(await listed(customer))).not.toContain(metric);
    const all = await listed(customer, { include_archived: true });
    expect(idsOf(all)).toContain(metric);
    const row = idsOf(all).indexOf(metric);
    expect(all.at(`data[${row}].archived_at`)).toBe('2026-11-10T00:00:00.000Z');
  });

  it('the metrics of a customer on the current plan are those with rates on the cards of the contracts in force', async () => {
    const customer = await create('/v1/customers', { name: 'Plan' });
    const [now, later, archived] = [await newMetric('Now'), await newMetric('Later'), await newMetric('Old')];
    const card = await create(RATE_CARDS, { name: 'Now' });
    const nextCard = await create(RATE_CARDS, { name: 'Later' });
    await price(card, now);
    await price(card, now);
    await price(card, archived);
    await price(nextCard, later);
    const onPlan = async (more = {}) => idsOf(await listed(customer, { on_current_plan: true, ...more }));
    expect(await onPlan()).toEqual([]);
    await create(CONTRACTS, {
      customer_id: customer,
      rate_card_id: card,
      starting_at: '2026-11-01T00:00:00Z',
    });
    await create(CONTRACTS, {
      customer_id: customer,
      rate_card_id: nextCard,
      starting_at: '2026-12-01T00:00:00Z',
    });
    await service.api.post('/v1/billable-metrics/archive', { id: archived });
    expect(await onPlan()).toEqual([now]);
    expect(await onPlan({ include_archived: true })).toEqual([now, archived].sort());
    const without = await listed(customer, { on_current_plan: false });
    expect(idsOf(without)).toEqual(expect.arrayContaining([now, later]));
  });

  it.each([UNKNOWN, 'nobody'])(
    'the metrics of an unknown customer (%s) are answered with 404',
    async (id) => {
      expect((await service.api.send('GET', `/v1/customers/${id}/billable-metrics`)).status).toBe(404);
    },
  );

  it.each(['limit=0', 'limit=101', 'next_page=x', 'on_current_plan=yes', 'include_archived=1'])(
    'the metrics of a customer with %s answer 400',
    async (query) => {
      const customer = await create('/v1/customers', { name: 'Query' });
      const answer = await service.api.send('GET', `/v1/customers/${customer}/billable-metrics?${query}`);
      expect(answer.status).toBe(400);
      expect(answer.text('message')).toMatch(new RegExp(`^${query.split('=')[0]}: `));
    },
  );
});

describe('an archived metric', () => {
  it('an archived metric is refused by new products; products that have it continue to meter', async () => {
    const customer = await create('/v1/customers', { name: 'Metering', ingest_aliases: ['metering'] });
    const metric = await newMetric('Metering');
    const card = await create(RATE_CARDS, { name: 'Metering' });
    await price(card, metric);
    await create(CONTRACTS, {
      customer_id: customer,
      rate_card_id: card,
      starting_at: '2026-11-01T00:00:00Z',
    });
    await service.api.post('/v1/billable-metrics/archive', { id: metric });
    const product = await service.api.send('POST', PRODUCTS, {
      name: 'New',
      type: 'USAGE',
      billable_metric_id: metric,
    });
    expect(product.status).toBe(400);
    expect(product.text('message')).toMatch(/^billable_metric_id: .*archived/);
    await service.api.post('/v1/ingest', [
      {
        transaction_id: 'metering',
        customer_id: 'metering',
        event_type: 'completion',
        timestamp: '2026-11-05T00:00:00Z',
        properties: { tokens: 7, model: 'large', region: 'eu' },
      },
    ]);
    const invoices = await service.api.get(`/v1/customers/${customer}/invoices`, {
      query: { status: 'DRAFT' },
    });
    expect(invoices.digits('data[0].total')).toBe('7');
  });
});

describe('a definition', () => {
  /** How many of the events with these properties a COUNT metric with these filters counts. */
  async function countOf(filters: unknown[], properties: readonly unknown[], more = {}): Promise<string> {
    const alias = `values-${Math.random()}`;
    const customer = await create('/v1/customers', { name: alias, ingest_aliases: [alias] });
    const events = properties.map((values, index) => ({
      transaction_id: `${alias}-${index}`,
      customer_id: alias,
      event_type: 'call',
      timestamp: '2026-11-05T00:00:00Z',
      properties: values,
    }));
    await service.api.post('/v1/ingest', events);
    // Created after the events: a metric measures all history.
    const metric = await create(METRICS, {
      name: 'Values',
      aggregation_type: 'Count',
      property_filters: filters,
      ...more,
    });
    const usage = await service.api.post('/v1/usage/groups', {
      customer_id: customer,
      billable_metric_id: metric,
      window_size: 'none',
      starting_on: '2026-11-01T00:00:00Z',
      ending_before: '2026-12-01T00:00:00Z',
    });
    return usage.at('data[0].value') === null ? 'null' : usage.digits('data[0].value');
  }

  it.each<[string, unknown[], unknown[], string]>([
    ['text', [{ name: 'x', in_values: ['a'] }], [{ x: 'a' }, { x: 'A' }, { x: 'aa' }], '1'],
    [
      'numbers',
      [{ name: 'x', in_values: ['1.50', '2'] }],
      [{ x: '1.50' }, { x: 2 }, { x: '2' }, { x: 3 }],
      '3',
    ],
    ['booleans', [{ name: 'x', in_values: ['true'] }], [{ x: true }, { x: 'true' }, { x: false }], '2'],
    ['not_in_values', [{ name: 'x', not_in_values: ['a'] }], [{ x: 'a' }, { x: 'b' }, {}], '2'],
    ['presence', [{ name: 'x', exists: true }], [{ x: '' }, { x: null }, {}, { x: 0 }], '2'],
    ['absence', [{ name: 'x', exists: false }], [{ x: '' }, { x: null }, {}, { x: 0 }], '2'],
    [
      'presence beside forbidden values',
      [{ name: 'x', exists: true, not_in_values: ['a'] }],
      [{ x: 'a' }, { x: 'b' }, {}],
      '1',
    ],
    [
      'several filters at once',
      [
        { name: 'x', in_values: ['a', 'b'] },
        { name: 'y', not_in_values: ['1'] },
        { name: 'z', exists: true },
      ],
      [
        { x: 'a', y: 2, z: 0 },
        { x: 'b', z: 0 },
        { x: 'a', y: 1, z: 0 },
        { x: 'a', y: 2 },
        { x: 'c', z: 0 },
      ],
      '2',
    ],
    [
      'several filters of one property',
      [
        { name: 'x', exists: true },
        { name: 'x', not_in_values: ['a'] },
      ],
      [{ x: 'a' }, { x: 'b' }, {}],
      '1',
    ],
    [
      'a name with dots, and a path into a nested value',
      [{ name: 'a.b', in_values: ['1', 'x'] }],
      [{ 'a.b': 1 }, { a: { b: 'x' } }, { 'a.b': 2, a: { b: 1 } }, { a: { b: { c: 1 } } }, { a: 'x' }],
      '2',
    ],
    [
      'a deep path to a number and a boolean',
      [{ name: 'a.b.c', in_values: ['0.10', 'true'] }],
      [{ a: { b: { c: true } } }, { a: { b: { c: '0.10' } } }, { a: { b: [] } }, {}],
      '2',
    ],
  ])('a definition filters by %s', async (_, filters, properties, count) => {
    expect(await countOf(filters, properties)).toBe(count);
  });

  it.each<[string, unknown, string]>([
    ['in_values', { in_values: ['call'] }, '1'],
    ['not_in_values', { not_in_values: ['call'] }, 'null'],
    ['both', { in_values: ['call', 'other'], not_in_values: ['other'] }, '1'],
    ['another letter case', { in_values: ['Call'] }, 'null'],
  ])('a definition filters event types by %s', async (_, event_type_filter, count) => {
    expect(await countOf([], [{}], { event_type_filter })).toBe(count);
  });
});
