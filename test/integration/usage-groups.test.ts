import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CONTRACTS, createdId, METRICS, TOKENS_METRIC } from '../support/catalogue-api.ts';
import { catalogueForFile, clickhouseForFile } from '../support/file-fixtures.ts';
import { storeEvents } from '../support/usage-events.ts';

const clickhouse = await clickhouseForFile();
const { api } = await catalogueForFile({ clickhouse });
let metric: string;
let customer: string;
let alias: string;

/** The clock of the tests stands on 2026-11-20. */
const NOVEMBER = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };
const GROUPS = '/v1/usage/groups';
const PREVIEW = '/v1/billable-metrics/preview';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

beforeAll(async () => {
  metric = await createdId(api, METRICS, TOKENS_METRIC);
});

let counter = 0;
beforeEach(async () => {
  counter += 1;
  alias = `customer-${counter}`;
  customer = await createdId(api, '/v1/customers', { name: 'Customer', ingest_aliases: [alias] });
  await send(
    [alias, '2026-11-03T10:15:00Z', { tokens: '1.5', model: 'large', region: 'eu' }],
    [customer, '2026-11-03T10:45:00Z', { tokens: '2', model: 'large', region: 'us' }],
    [alias, '2026-11-04T23:59:59.999Z', { tokens: '4', model: 'small', region: 'eu' }],
  );
});

let transaction = 0;
type Sent = readonly [customerRef: string, timestamp: string, properties: Readonly<Record<string, string>>];

/** One insert, whatever their number. */
async function send(...events: readonly Sent[]): Promise<void> {
  const stored = events.map(([customerRef, timestamp, properties]) => {
    transaction += 1;
    return {
      transactionId: `t-${transaction}`,
      customerRef,
      eventType: 'completion',
      timestamp: Date.parse(timestamp),
      properties,
      ingestedAt: Date.UTC(2026, 10, 20) * 1_000 + transaction,
    };
  });
  await storeEvents(clickhouse, stored);
}

function request(change: Record<string, unknown>): Record<string, unknown> {
  return { customer_id: customer, billable_metric_id: metric, window_size: 'NONE', ...NOVEMBER, ...change };
}

async function rows(change: Record<string, unknown>): Promise<unknown[]> {
  const answer = await api.post(GROUPS, request(change));
  return answer.list('data');
}

const MONTH = { starting_on: '2026-11-01T00:00:00.000Z', ending_before: '2026-12-01T00:00:00.000Z' };

describe('usage in windows', () => {
  test('events sent under the id and under an alias count together', async () => {
    expect(await rows({ window_size: 'none' })).toEqual([
      { ...MONTH, group_key: null, group_value: null, value: 7.5 },
    ]);
  });

  test('days without events have a row without a value', async () => {
    const days = await rows({
      window_size: 'Day',
      starting_on: '2026-11-02T00:00:00Z',
      ending_before: '2026-11-05T00:00:00Z',
    });
    expect(days).toMatchObject([{ value: null }, { value: 3.5 }, { value: 4 }]);
  });

  test('hour windows begin on any full hour', async () => {
    const hours = await rows({
      window_size: 'HOUR',
      starting_on: '2026-11-03T10:00:00Z',
      ending_before: '2026-11-03T12:00:00Z',
    });
    expect(hours).toMatchObject([
      { starting_on: '2026-11-03T10:00:00.000Z', ending_before: '2026-11-03T11:00:00.000Z', value: 3.5 },
      { value: null },
    ]);
  });

  test('pages continue where the one before ended', async () => {
    const seen: unknown[] = [];
    let cursor: string | undefined;
    do {
      const query = { limit: 7, next_page: cursor };
      const page = await api.post(GROUPS, request({ window_size: 'DAY' }), { query });
      seen.push(...page.list('data'));
      cursor = page.at('next_page') === null ? undefined : page.text('next_page');
    } while (cursor !== undefined);
    expect(seen).toEqual(await rows({ window_size: 'DAY' }));
    expect(seen).toHaveLength(30);
  });
});

describe('usage by group', () => {
  test('a simple key also fills the deprecated fields', async () => {
    expect(await rows({ group_key: ['model'] })).toEqual([
      { ...MONTH, group_key: 'model', group_value: 'large', group: { model: 'large' }, value: 3.5 },
      { ...MONTH, group_key: 'model', group_value: 'small', group: { model: 'small' }, value: 4 },
    ]);
  });

  test('a compound key is named in any order and leaves the deprecated fields null', async () => {
    const byBoth = await rows({ group_key: ['region', 'model'] });
    expect(byBoth).toMatchObject([
      { group_key: null, group_value: null, group: { model: 'large', region: 'eu' }, value: 1.5 },
      { group: { model: 'large', region: 'us' }, value: 2 },
      { group: { model: 'small', region: 'eu' }, value: 4 },
    ]);
  });

  test('filters and the deprecated group_by select values', async () => {
    const large = [{ group: { model: 'large' }, value: 3.5 }];
    expect(await rows({ group_key: ['model'], group_filters: { model: ['large'] } })).toMatchObject(large);
    expect(await rows({ group_by: { key: 'model', values: ['large'] } })).toMatchObject(large);
    expect(await rows({ group_key: ['model'], group_filters: { model: [] } })).toHaveLength(2);
  });
});

describe('long group values', () => {
  /** Equal beginnings of thousands of characters, of one byte and of three, as long as events may have them. */
  const long = '長'.repeat(60_000);
  const MODELS = [
    '',
    'a'.repeat(1_600),
    'large',
    'large '.repeat(300),
    'small',
    `${long}1`,
    `${long}2`,
    '長',
  ];

  async function pages(path: string, definition: object, limit: number): Promise<unknown[]> {
    const seen: unknown[] = [];
    const { billable_metric_id: _, ...question } = request({ group_key: ['model'], window_size: 'DAY' });
    const body = { ...question, ...definition };
    let next_page: string | undefined;
    do {
      const page = await api.post(path, body, { query: { limit, next_page } });
      seen.push(...page.list('data'));
      next_page = page.at('next_page') === null ? undefined : page.text('next_page');
      expect(next_page?.length ?? 0).toBeLessThan(700);
    } while (next_page !== undefined);
    return seen;
  }

  test.each([
    ['usage of a streaming metric', GROUPS, () => ({ billable_metric_id: metric })],
    ['a preview of one', PREVIEW, () => TOKENS_METRIC],
    [
      'a preview of a SQL metric',
      PREVIEW,
      () => ({ sql: 'SELECT SUM(properties.tokens) AS value, properties.model FROM events GROUP BY 2' }),
    ],
  ])('long group values are reached page by page: %s', async (_, path, definition) => {
    await send(
      ...MODELS.map((model): Sent => [alias, '2026-11-03T12:00:00Z', { tokens: '1', model, region: 'eu' }]),
    );
    const whole = await pages(path, definition(), 100);
    const groups = whole.map((row) => (row as { readonly group: { readonly model: string } }).group.model);
    expect(groups).toEqual([...MODELS.toSorted(), 'small']);
    expect(await pages(path, definition(), 2)).toEqual(whole);
  });

  test('long group values of a row that is gone begin again, rather than repeat or lose rows', async () => {
    await send([alias, '2026-11-03T12:00:00Z', { tokens: '1', model: 'a'.repeat(1_600), region: 'eu' }]);
    const body = request({ group_key: ['model'] });
    const first = await api.post(GROUPS, body, { query: { limit: 1 } });
    await api.post(`/v1/customers/${customer}/setIngestAliases`, { ingest_aliases: ['other'] });
    const query = { limit: 1, next_page: first.text('next_page') };
    const next = await api.send('POST', GROUPS, body, { query });
    expect(next.status).toBe(400);
    expect(next.text('message')).toMatch(/^next_page: .*begin again/);
  });
});

describe('the current period', () => {
  test('the current period is that of the customer’s contract', async () => {
    const body = { customer_id: customer, starting_at: '2026-11-04T06:00:00Z' };
    await api.post(CONTRACTS, body);
    const dates = { starting_on: undefined, ending_before: undefined };
    const current = await rows({ ...dates, current_period: true });
    expect(current).toMatchObject([{ starting_on: '2026-11-04T06:00:00.000Z', value: 4 }]);
    await api.post(CONTRACTS, body);
    expect(await rows({ ...dates, current_period: true })).toEqual(current);
    await api.post(CONTRACTS, { ...body, starting_at: '2026-11-10T00:00:00Z' });
    const torn = await api.send('POST', GROUPS, request({ ...dates, current_period: true }));
    expect(torn.status).toBe(400);
    expect(torn.text('message')).toMatch(/^current_period: .*starting_on and ending_before/);
  });

  test.each([
    ['without a contract', { starting_on: undefined, ending_before: undefined }],
    ['beside dates', {}],
  ])('%s answers 400', async (_, change) => {
    const answer = await api.send('POST', GROUPS, request({ ...change, current_period: true }));
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(/^current_period: /);
  });
});

describe('requests that are refused', () => {
  test.each<[string, Record<string, unknown>, RegExp]>([
    ['no dates', { starting_on: undefined, ending_before: undefined }, /^starting_on: /],
    ['no end', { ending_before: undefined }, /^ending_before: /],
    ['an end at the start', { ending_before: NOVEMBER.starting_on }, /^ending_before: /],
    [
      'a day off midnight',
      { window_size: 'DAY', starting_on: '2026-11-01T01:00:00Z' },
      /^starting_on: .*midnight/,
    ],
    [
      'an hour off the hour',
      { window_size: 'HOUR', starting_on: '2026-11-01T00:30:00Z' },
      /^starting_on: .*hour/,
    ],
    ['no window size', { window_size: undefined }, /^window_size: /],
    ['an undeclared key', { group_key: ['zone'] }, /^group_key: .*\[model\], \[model, region\]/],
    ['part of a compound key', { group_key: ['region'] }, /^group_key: /],
    ['an empty key', { group_key: [] }, /^group_key: /],
    ['a repeated name', { group_key: ['model', 'model'] }, /^group_key\[1\]: /],
    ['an undeclared group_by', { group_by: { key: 'zone' } }, /^group_by\.key: /],
    ['both kinds of key', { group_key: ['model'], group_by: { key: 'model' } }, /^group_by: /],
    [
      'a filter on another name',
      { group_key: ['model'], group_filters: { region: ['eu'] } },
      /^group_filters\.region: /,
    ],
    ['a filter without a key', { group_filters: { model: ['large'] } }, /^group_filters\.model: /],
  ])('%s answers 400 and names the field', async (_, change, message) => {
    const answer = await api.send('POST', GROUPS, request(change));
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
  });

  test.each(['customer_id', 'billable_metric_id'])('an unknown %s answers 404', async (field) => {
    expect((await api.send('POST', GROUPS, request({ [field]: UNKNOWN }))).status).toBe(404);
  });
});
