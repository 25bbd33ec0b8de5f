/** Event search on the whole service: what was accepted, whom it counts for, and why not for others. */
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { ApiAnswer } from '../support/api-client.ts';
import { createdId, METRICS, TOKENS_METRIC } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { startTestService, type TestService } from '../support/service.ts';

const EVERYTHING = { name: 'Everything', aggregation_type: 'count' };
const NOW = '2026-11-10T00:00:00Z';

const service = await serviceForFile({ sandboxNow: NOW });
let tokens: string;
let all: string;

beforeAll(async () => {
  tokens = await createdId(service.api, METRICS, TOKENS_METRIC);
  all = await createdId(service.api, METRICS, EVERYTHING);
});

const AT = '2026-11-09T10:00:00.123Z';
const SEARCH = '/v1/events/search';

/** For a test that moves the clock or adds metrics, which every search shows. It has the same two metrics. */
async function ownService(): Promise<TestService> {
  const own = await startTestService({ sandboxNow: NOW });
  onTestFinished(() => own.close());
  await createdId(own.api, METRICS, TOKENS_METRIC);
  await createdId(own.api, METRICS, EVERYTHING);
  return own;
}

let events = 0;
/** Sends an event of the metric with this change; returns its id. */
async function send(change: Record<string, unknown> = {}, { api } = service): Promise<string> {
  events += 1;
  const event = {
    transaction_id: `t-${events}`,
    customer_id: 'nobody',
    event_type: 'completion',
    timestamp: AT,
    properties: { tokens: '5', model: 'large', region: 'eu' },
    ...change,
  };
  await api.post('/v1/ingest', [event]);
  return event.transaction_id;
}

function search(
  transactionIds: readonly string[],
  rest: Record<string, unknown> = {},
  { api } = service,
): Promise<ApiAnswer> {
  return api.post(SEARCH, { transactionIds, ...rest });
}

function column(answer: ApiAnswer, name: string): unknown[] {
  return answer.list('').map((_, index) => answer.at(`[${index}].${name}`));
}

async function newCustomer(alias: string, { api } = service): Promise<string> {
  return createdId(api, '/v1/customers', { name: `Customer ${alias}`, ingest_aliases: [alias] });
}

describe('an accepted event', () => {
  it('an event is found as it was sent, with its customer and the metrics that count it', async () => {
    const customer = await newCustomer('found');
    const id = await send({
      customer_id: 'found',
      properties: { tokens: 1.5, model: 'large', region: 'eu', ok: true, nested: { a: [1, 'x'] } },
    });
    const answer = await search([id]);
    expect(answer.list('')).toHaveLength(1);
    expect(answer.at('[0]')).toMatchObject({
      transaction_id: id,
      timestamp: AT,
      customer_id: 'found',
      event_type: 'completion',
      properties: { tokens: '1.5', model: 'large', region: 'eu', ok: 'true', nested: '{"a":[1,"x"]}' },
      processed_at: '2026-11-10T00:00:00.000Z',
      matched_customer: { id: customer, name: 'Customer found' },
      is_duplicate: false,
    });
    expect(column(answer, 'unmatched_billable_metrics')).toEqual([undefined]);
    const matched = z
      .array(z.looseObject({ id: z.string() }))
      .parse(answer.at('[0].matched_billable_metrics'));
    expect(matched.map(({ id: metric }) => metric).sort()).toEqual([all, tokens].sort());
    expect(matched.find(({ id: metric }) => metric === tokens)).toMatchObject({
      ...TOKENS_METRIC,
      aggregate: 'SUM',
      aggregate_keys: ['tokens'],
      group_by: ['model', 'region'],
      filter: { event_type: ['completion'], region: ['eu', 'us'] },
    });
    expect((await search([id])).at('[0].id')).toBe(answer.at('[0].id'));
  });

  it('an accepted event is found in the order of the ids asked for; unknown ids are left out', async () => {
    const [first, second] = [await send(), await send()];
    const answer = await search([second, 'unknown', first, second]);
    expect(column(answer, 'transaction_id')).toEqual([second, first]);
    expect((await search(['unknown'])).list('')).toEqual([]);
  });

  it('an accepted event belongs to a customer as soon as one has its alias, and to whom the alias is moved', async () => {
    const id = await send({ customer_id: 'later' });
    const before = await search([id], { include_unmatched: true });
    expect(before.at('[0].matched_customer')).toBeNull();
    expect(before.list('[0].matched_billable_metrics')).toEqual([]);
    expect(before.text('[0].unmatched_billable_metrics[0].reason')).toMatch(/^no customer has "later"/);
    const customer = await newCustomer('later');
    expect((await search([id])).at('[0].matched_customer.id')).toBe(customer);
    await service.api.post(`/v1/customers/${customer}/setIngestAliases`, { ingest_aliases: [] });
    const other = await newCustomer('later');
    expect((await search([id])).at('[0].matched_customer.id')).toBe(other);
  });

  it('an accepted event can be sent under the id of its customer', async () => {
    const customer = await newCustomer('by-id');
    const id = await send({ customer_id: customer });
    expect((await search([id])).at('[0].matched_customer.id')).toBe(customer);
    const upper = await send({ customer_id: customer.toUpperCase() });
    expect((await search([upper])).at('[0].matched_customer.id')).toBe(customer);
  });

  it('an accepted event keeps odd names and texts of properties', async () => {
    const properties = JSON.parse('{"constructor":"x","a.b":"1","":"e","q\\"":"\\u00e9\\n\\\\"}');
    const id = await send({ properties });
    const answer = await search([id]);
    expect(JSON.stringify(answer.at('[0].properties'))).toBe(JSON.stringify(properties));
  });

  it('an accepted event is no longer found when the window in which its id is remembered has passed', async () => {
    const own = await ownService();
    const id = await send({ transaction_id: 'window' }, own);
    await own.moveClock('2026-12-13T23:59:59Z');
    expect((await search([id], {}, own)).list('')).toHaveLength(1);
    await own.moveClock('2026-12-14T00:00:00Z');
    expect((await search([id], {}, own)).list('')).toEqual([]);
    await send({ transaction_id: id, timestamp: '2026-12-13T00:00:00.000Z' }, own);
    expect(column(await search([id], {}, own), 'timestamp')).toEqual(['2026-12-13T00:00:00.000Z']);
    expect(column(await search([id], {}, own), 'is_duplicate')).toEqual([false]);
  });
});

describe('a repeat', () => {
  it('a repeat is shown after the event that counts, with its content and the time of its arrival', async () => {
    const own = await ownService();
    const later = '2026-11-10T01:00:00.000Z';
    const customer = await newCustomer('repeats', own);
    const id = await send({ customer_id: 'repeats' }, own);
    await own.moveClock(later);
    await send(
      {
        transaction_id: id,
        customer_id: 'other',
        properties: { 'a;b': "it's \\ \n" },
      },
      own,
    );
    await send({ transaction_id: id, customer_id: 'repeats', event_type: 'x' }, own);
    const answer = await search([id], { include_unmatched: true }, own);
    expect(column(answer, 'is_duplicate')).toEqual([false, true, true]);
    expect(column(answer, 'customer_id')).toEqual(['repeats', 'other', 'repeats']);
    expect(column(answer, 'event_type')).toEqual(['completion', 'completion', 'x']);
    expect(answer.at('[1].properties')).toEqual({ 'a;b': "it's \\ \n" });
    expect(answer.at('[1].processed_at')).toBe(later);
    expect(column(answer, 'matched_customer.id')).toEqual([customer, undefined, customer]);
    expect(answer.list('[0].matched_billable_metrics')).toHaveLength(2);
    expect(answer.list('[2].matched_billable_metrics')).toEqual([]);
    expect(answer.list('[2].unmatched_billable_metrics')).toEqual([]);
    expect(new Set(column(answer, 'id')).size).toBe(3);
  });

  it('within one request is shown as well, and outlives a restart', async () => {
    const event = {
      transaction_id: 'twice',
      customer_id: 'nobody',
      event_type: 'x',
      timestamp: AT,
    };
    await service.api.post('/v1/ingest', [event, event, event]);
    await service.restart();
    expect(column(await search(['twice']), 'is_duplicate')).toEqual([false, true, true]);
  });
});

describe('why a metric does not count an event', () => {
  const rejected: readonly [string, Record<string, unknown>, RegExp][] = [
    ['its event type', { event_type: 'chat' }, /^event_type is "chat", .*in_values has "completion"$/],
    ['a missing property', { properties: { tokens: '1', region: 'eu' } }, /^property "model" is missing/],
    [
      'a value outside in_values',
      { properties: { tokens: '1', model: 'large', region: 'ap' } },
      /^property "region" is "ap", its filter has in_values "eu", "us"$/,
    ],
    [
      'text where a number is needed',
      { properties: { tokens: 'many', model: 'large', region: 'eu' } },
      /^property "tokens" is "many", which SUM cannot count/,
    ],
    [
      'a number with more digits than can be kept',
      { properties: { tokens: '1e-40', model: 'large', region: 'eu' } },
      /^property "tokens" is "1e-40", .*30 after the point$/,
    ],
  ];

  it.each(rejected)(
    'the reason why a metric does not count an event is said in a sentence: %s',
    async (_, change, reason) => {
      const customer = await newCustomer(`why-${events}`);
      const id = await send({ customer_id: customer, ...change });
      const answer = await search([id], { include_unmatched: true });
      expect(answer.list('[0].unmatched_billable_metrics')).toHaveLength(1);
      expect(answer.at('[0].unmatched_billable_metrics[0]')).toEqual({
        id: tokens,
        name: 'Tokens',
        reason: expect.stringMatching(reason),
      });
      expect(answer.text('[0].matched_billable_metrics[0].id')).toBe(all);
    },
  );

  it('the reason why a metric does not count an event names an archived metric where it counts the event, and only there', async () => {
    const own = await ownService();
    const archived = await createdId(own.api, METRICS, { ...TOKENS_METRIC, name: 'Old tokens' });
    await own.api.post('/v1/billable-metrics/archive', { id: archived });
    const customer = await newCustomer('archive', own);
    const counted = await send({ customer_id: customer }, own);
    const passed = await send({ customer_id: customer, event_type: 'chat' }, own);
    const answer = await search([counted, passed], { include_unmatched: true }, own);
    const named = (path: string) => answer.list(path).map((_, index) => answer.at(`${path}[${index}].name`));
    expect(named('[0].matched_billable_metrics').sort()).toEqual(['Everything', 'Old tokens', 'Tokens']);
    expect(named('[0].unmatched_billable_metrics')).toEqual([]);
    expect(named('[1].matched_billable_metrics')).toEqual(['Everything']);
    expect(named('[1].unmatched_billable_metrics')).toEqual(['Tokens']);
  });
});

describe('a search that is refused', () => {
  it.each<[string, unknown, RegExp]>([
    ['no ids', {}, /^transactionIds: is required/],
    ['an empty list', { transactionIds: [] }, /^transactionIds: /],
    ['more than 100 ids', { transactionIds: Array.from({ length: 101 }, String) }, /^transactionIds: /],
    ['an id that no event can have', { transactionIds: ['x'.repeat(129)] }, /^transactionIds\[0\]: /],
    ['an empty id', { transactionIds: [''] }, /^transactionIds\[0\]: /],
    ['a number', { transactionIds: [5] }, /^transactionIds\[0\]: /],
  ])('%s answers 400 and names the field', async (_, body, message) => {
    const answer = await service.api.send('POST', SEARCH, body);
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
  });

  it('a search that is refused takes ids of 128 characters of any kind', async () => {
    const id = '𝄞'.repeat(128);
    await send({ transaction_id: id });
    expect((await search([id])).list('')).toHaveLength(1);
  });
});

describe('a metric that is a query', () => {
  it('a metric that is a query is listed with its text and the aggregation custom_sql, and elsewhere without one', async () => {
    const own = await ownService();
    const { api } = own;
    const sql = 'SELECT COUNT(*) FROM events';
    const id = await createdId(api, METRICS, { name: 'By query', sql });
    await newCustomer('queried', own);
    const answer = await search([await send({ customer_id: 'queried' }, own)], {}, own);
    const matched = z
      .array(z.looseObject({ id: z.string(), name: z.string(), aggregation_type: z.string() }))
      .parse(answer.at('[0].matched_billable_metrics'));
    expect(matched.find((metric) => metric.id === id)).toMatchObject({ sql, aggregation_type: 'custom_sql' });
    expect(matched.find((metric) => metric.name === 'Tokens')).toMatchObject({ aggregation_type: 'SUM' });
    const metric = await api.get(`/v1/billable-metrics/${id}`);
    expect(metric.at('data')).not.toHaveProperty('aggregation_type');
  });
});
