/** `POST /v1/usage` through the API. The property test of the same name proves the values. */
import { beforeAll, describe, expect, it } from 'vitest';
import { usageBatch } from '../../src/billing/usage/usage-batch.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { billingContext } from '../support/billing-context.ts';
import { createdId, METRICS, TOKENS_METRIC } from '../support/catalogue-api.ts';
import { catalogueForFile, clickhouseForFile } from '../support/file-fixtures.ts';
import { storeEvents } from '../support/usage-events.ts';

const clickhouse = await clickhouseForFile();
const { pool, api } = await catalogueForFile({ clickhouse });
/** Ascending. */
let customers: readonly [string, string, string];
let tokens: string;
let requests: string;

const USAGE = '/v1/usage';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const DAYS = {
  window_size: 'DAY',
  starting_on: '2026-11-03T00:00:00Z',
  ending_before: '2026-11-05T00:00:00Z',
};

beforeAll(async () => {
  const ids = await Promise.all(
    ['one', 'two', 'three'].map((alias) =>
      createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] }),
    ),
  );
  const [first = '', second = '', third = ''] = ids.sort();
  customers = [first, second, third];
  tokens = await createdId(api, METRICS, TOKENS_METRIC);
  requests = await createdId(api, METRICS, { name: 'Requests', aggregation_type: 'count' });
  await send(first, '2026-11-03T10:15:00Z', { tokens: '1.5', model: 'large', region: 'eu' });
  await send(first, '2026-11-03T10:45:00Z', { tokens: '2', model: 'small', region: 'us' });
  await send(first, '2026-11-04T23:59:59.999Z', { tokens: '4', model: '__proto__', region: 'eu' });
  await send(second, '2026-11-03T00:00:00Z', {
    tokens: '0.1234567890123456789',
    model: 'large',
    region: 'eu',
  });
  await send(second, '2026-11-05T00:00:00Z', { tokens: '100', model: 'large', region: 'eu' });
});
let sent = 0;
async function send(customerRef: string, at: string, properties: Record<string, string>): Promise<void> {
  sent += 1;
  const identity = { transactionId: `t-${sent}`, customerRef, eventType: 'completion' };
  const ingestedAt = Date.UTC(2026, 10, 20) * 1_000 + sent;
  await storeEvents(clickhouse, [{ ...identity, timestamp: Date.parse(at), properties, ingestedAt }]);
}

/** The ids that are not archived, ascending. */
async function idsOf(path: '/v1/billable-metrics' | '/v1/customers'): Promise<string[]> {
  const answer = await api.get(path, { query: { limit: 100 } });
  return answer
    .list('data')
    .map((_, index) => answer.text(`data[${index}].id`))
    .sort();
}

function values(answer: ApiAnswer): (string | null)[] {
  return answer.list('data').map((_, index) => {
    const path = `data[${index}].value`;
    return answer.at(path) === null ? null : answer.digits(path);
  });
}

describe('usage of many customers and metrics', () => {
  it('usage of many customers and metrics has a row for every customer, metric and window, in this order, with every digit', async () => {
    const answer = await api.post(USAGE, {
      ...DAYS,
      customer_ids: [customers[1], customers[0], customers[2]],
      billable_metrics: [{ id: tokens }],
    });
    expect(answer.at('next_page')).toBeNull();
    expect(answer.at('data[0]')).toEqual({
      customer_id: customers[0],
      billable_metric_id: tokens,
      billable_metric_name: 'Tokens',
      start_timestamp: '2026-11-03T00:00:00.000Z',
      end_timestamp: '2026-11-04T00:00:00.000Z',
      value: 3.5,
    });
    const order = answer.list('data').map((_, index) => answer.text(`data[${index}].customer_id`));
    expect(order).toEqual(customers.flatMap((customer) => [customer, customer]));
    expect(values(answer)).toEqual(['3.5', '4', '0.1234567890123456789', null, null, null]);
  });

  it('usage of many customers and metrics is about all customers and metrics that are not archived, unless they are named', async () => {
    const archived = await createdId(api, METRICS, { ...TOKENS_METRIC, name: 'Old' });
    await api.post('/v1/billable-metrics/archive', { id: archived });
    const all = await api.post(USAGE, { ...DAYS, window_size: 'none' });
    const metrics = await idsOf('/v1/billable-metrics');
    expect(metrics).not.toContain(archived);
    const rows = all.list('data').map((_, index) => all.text(`data[${index}].billable_metric_id`));
    expect(rows).toEqual((await idsOf('/v1/customers')).flatMap(() => metrics));
    const named = await api.post(USAGE, {
      ...DAYS,
      window_size: 'NONE',
      customer_ids: customers,
      billable_metrics: [{ id: archived }],
    });
    expect(values(named)).toEqual(['7.5', '0.1234567890123456789', null]);
    const none = await api.post(USAGE, { ...DAYS, customer_ids: [] });
    expect(none.at('')).toEqual({ data: [], next_page: null });
  });

  it('usage of many customers and metrics takes hours that begin on any full hour', async () => {
    const answer = await api.post(USAGE, {
      window_size: 'Hour',
      starting_on: '2026-11-03T10:00:00Z',
      ending_before: '2026-11-03T12:00:00Z',
      customer_ids: [customers[0]],
      billable_metrics: [{ id: requests }],
    });
    expect(values(answer)).toEqual(['2', null]);
  });

  it('usage continues after the last row when a page is full, over all customers', async () => {
    const input = {
      customerIds: null,
      metrics: null,
      windowSize: 'HOUR' as const,
      range: { start: Date.UTC(2026, 10, 3), end: Date.UTC(2026, 10, 5) },
      limit: 100,
    };
    const context = billingContext({ db: pool.db, clickhouse });
    const pages = [await usageBatch(context, { ...input, after: null })];
    for (let next = pages[0]?.next ?? null; next !== null; next = pages.at(-1)?.next ?? null) {
      pages.push(await usageBatch(context, { ...input, after: next }));
    }
    const count = (await idsOf('/v1/customers')).length * 48 * (await idsOf('/v1/billable-metrics')).length;
    const sizes = pages.map(({ rows }) => rows.length);
    expect(sizes).toEqual([...Array(sizes.length - 1).fill(100), count - 100 * (sizes.length - 1)]);
    expect(sizes.length).toBeGreaterThan(2);
    const whole = await usageBatch(context, { ...input, after: null, limit: 5_000 });
    expect(pages.flatMap(({ rows }) => rows)).toEqual(whole.rows);
  });
});

describe('all pages', () => {
  it.each<[string, object]>([
    ['a streaming metric', { ...TOKENS_METRIC, group_keys: [['model']] }],
    [
      'a SQL metric',
      {
        name: 'Sql',
        sql: 'SELECT sum(properties.tokens) AS value, properties.model AS model FROM events GROUP BY properties.model',
      },
    ],
  ])(
    'all pages of %s show the moment of the first one, with and without groups',
    async (name, definition) => {
      const alias = `moment of ${name}`;
      const customer = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
      const metric = await createdId(api, METRICS, definition);
      const days = ['2026-11-03T10:00:00Z', '2026-11-04T10:00:00Z'];
      for (const day of days) await send(alias, day, { tokens: '1', model: 'large', region: 'eu' });
      const input = {
        customerIds: [customer],
        windowSize: 'DAY' as const,
        range: { start: Date.UTC(2026, 10, 3), end: Date.UTC(2026, 10, 5) },
        limit: 1,
      };
      const context = billingContext({ db: pool.db, clickhouse });
      for (const [round, groupBy] of [null, { key: 'model', values: null }].entries()) {
        const asked = { ...input, metrics: [{ id: metric, groupBy }] };
        const first = await usageBatch(context, { ...asked, after: null });
        await send(alias, days[1] ?? '', { tokens: '10', model: 'large', region: 'eu' });
        const second = await usageBatch(context, { ...asked, after: first.next });
        const known = String(1 + 10 * round);
        expect(second.rows.map(({ value }) => value?.toFixed())).toEqual([known]);
        expect(second.rows.map(({ groups }) => groups?.get('large')?.toFixed())).toEqual([
          groupBy === null ? undefined : known,
        ]);
      }
    },
  );
});

describe('groups', () => {
  const grouped = (groupBy: unknown) => ({
    ...DAYS,
    customer_ids: [customers[0], customers[2]],
    billable_metrics: [{ id: tokens, group_by: groupBy }],
  });

  it('groups are those with usage, beside the value of the whole window', async () => {
    const answer = await api.post(USAGE, {
      ...grouped({ key: 'model' }),
      ending_before: '2026-11-04T00:00:00Z',
    });
    expect(values(answer)).toEqual(['3.5', null]);
    expect(answer.at('data[0].groups')).toEqual({ large: 1.5, small: 2 });
    expect(answer.at('data[1].groups')).toEqual({});
  });

  it('groups that were asked for are null where nothing matched, and change nothing about the whole', async () => {
    const answer = await api.post(USAGE, grouped({ key: 'model', values: ['small', 'none'] }));
    expect(values(answer)).toEqual(['3.5', '4', null, null]);
    expect([0, 1, 2].map((index) => answer.at(`data[${index}].groups`))).toEqual([
      { small: 2, none: null },
      { small: null, none: null },
      { small: null, none: null },
    ]);
  });

  it('groups of more values than a page takes are cut between rows, never within one', async () => {
    const alias = 'many-groups';
    const customer = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
    const models = Array.from({ length: 26_000 }, (_, index) => `model-${index}`);
    const events = ['2026-11-03T01:00:00Z', '2026-11-04T01:00:00Z'].flatMap((at, day) =>
      models.map((model, index) => ({
        transactionId: `g-${day}-${index}`,
        customerRef: alias,
        eventType: 'completion',
        timestamp: Date.parse(at),
        properties: { tokens: '1', model, region: 'eu' },
        ingestedAt: Date.UTC(2026, 10, 19) * 1_000 + index,
      })),
    );
    for (let from = 0; from < events.length; from += 4_000) {
      await storeEvents(clickhouse, events.slice(from, from + 4_000));
    }
    const input = {
      customerIds: [customer],
      metrics: [{ id: tokens, groupBy: { key: 'model', values: null } }],
      windowSize: 'DAY' as const,
      range: { start: Date.UTC(2026, 10, 3), end: Date.UTC(2026, 10, 5) },
      limit: 5_000,
    };
    const context = billingContext({ db: pool.db, clickhouse });
    const first = await usageBatch(context, { ...input, after: null });
    const second = await usageBatch(context, { ...input, after: first.next });
    expect([first, second].map(({ rows }) => rows.map(({ groups }) => groups?.size))).toEqual([
      [26_000],
      [26_000],
    ]);
    expect(second.next).toBeNull();
  });
});

describe('requests that are refused', () => {
  it.each<[string, Record<string, unknown>, RegExp]>([
    ['no start', { starting_on: undefined }, /^starting_on: is required/],
    ['no end', { ending_before: null }, /^ending_before: /],
    ['an end at the start', { ending_before: DAYS.starting_on }, /^ending_before: must be after/],
    ['a day off midnight', { starting_on: '2026-11-03T01:00:00Z' }, /^starting_on: .*midnight/],
    ['an hour off the hour', { window_size: 'HOUR', starting_on: '2026-11-03T00:30:00Z' }, /^starting_on: /],
    ['no window size', { window_size: undefined }, /^window_size: /],
    ['an odd window size', { window_size: 'WEEK' }, /^window_size: /],
    ['a customer that is no id', { customer_ids: ['one'] }, /^customer_ids\[0\]: must be a UUID/],
  ])('%s answers 400 and names the field', async (_, change, message) => {
    const answer = await api.send('POST', USAGE, { ...DAYS, ...change });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
  });

  it.each<[string, unknown, RegExp]>([
    [
      'an undeclared key',
      [{ group_by: { key: 'region' } }],
      /^billable_metrics\[0\]\.group_by\.key: must be a group key .*\[model\]/,
    ],
    ['no values', [{ group_by: { key: 'model', values: [] } }], /^billable_metrics\[0\]\.group_by\.values: /],
    [
      'more than 200 values',
      [{ group_by: { key: 'model', values: Array.from({ length: 201 }, String) } }],
      /^billable_metrics\[0\]\.group_by\.values: /,
    ],
    ['a metric named twice', [{}, {}], /^billable_metrics\[1\]\.id: repeats/],
  ])('%s answers 400 and names the field', async (_, metrics, message) => {
    const named = (metrics as object[]).map((metric) => ({ id: tokens, ...metric }));
    const answer = await api.send('POST', USAGE, { ...DAYS, billable_metrics: named });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
  });

  it('an unknown customer or metric answers 404', async () => {
    const customer = await api.send('POST', USAGE, { ...DAYS, customer_ids: [UNKNOWN] });
    const metric = await api.send('POST', USAGE, { ...DAYS, billable_metrics: [{ id: UNKNOWN }] });
    expect([customer.status, metric.status]).toEqual([404, 404]);
  });

  it('a cursor of another request answers 400', async () => {
    const cursor = (fields: object) => Buffer.from(JSON.stringify(fields)).toString('base64url');
    const good = {
      customerId: UNKNOWN,
      metricId: UNKNOWN,
      windowStart: Date.UTC(2026, 10, 3),
      ingestedUpTo: '1',
    };
    const status = async (fields: object) =>
      (await api.send('POST', USAGE, DAYS, { query: { next_page: cursor(fields) } })).status;
    expect(await status(good)).toBe(200);
    expect(await status({ ...good, windowStart: Date.UTC(2026, 10, 5) })).toBe(400);
    expect(await status({ ...good, windowStart: Date.UTC(2026, 10, 3) + 1 })).toBe(400);
    expect(await status({ ...good, customerId: 'x' })).toBe(400);
  });
});
