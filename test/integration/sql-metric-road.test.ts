/** A SQL metric from the API to the invoice: preview, creation, usage, and both breakdown granularities. */
import { beforeAll, expect, it } from 'vitest';
import { documentedFunctions } from '../../src/metering/sql/functions/table.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion } from '../support/scenario.ts';

const SQL =
  'SELECT SUM(properties.tokens) AS value, properties.model AS model FROM events ' +
  "WHERE event_type = 'completion' GROUP BY model";

const NOVEMBER = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };

const service = await serviceForFile();
let customerId: string;

beforeAll(async () => {
  customerId = await createdId(service.api, '/v1/customers', { name: 'Query', ingest_aliases: ['query'] });
  await createdId(service.api, '/v1/customers', { name: 'Other', ingest_aliases: ['other'] });
  await service.api.post('/v1/ingest', [
    completion('query', { id: 'q-1', at: '2026-11-02T10:00:00Z', tokens: '1000.25' }),
    completion('query', { id: 'q-2', at: '2026-11-03T10:00:00Z', tokens: 500 }),
    completion('query', { id: 'q-3', at: '2026-11-03T10:30:00Z', tokens: 'many' }),
    completion('query', { id: 'q-4', at: '2026-11-03T11:00:00Z', tokens: 70, model: 'small' }),
    completion('other', { id: 'o-1', at: '2026-11-03T11:00:00Z', tokens: 1_000_000 }),
  ]);
});

const EXPECTED = [
  { day: '2026-11-02', model: 'large', value: 1000.25 },
  { day: '2026-11-03', model: 'large', value: 500 },
  { day: '2026-11-03', model: 'small', value: 70 },
];

async function usage(path: string, body: object) {
  const request = { customer_id: customerId, ...NOVEMBER, window_size: 'DAY', group_key: ['model'], ...body };
  const answer = await service.api.post(path, request);
  return answer.list('data').map((_, index) => ({
    day: answer.text(`data[${index}].starting_on`).slice(0, 10),
    model: answer.at(`data[${index}].group.model`),
    value: answer.at(`data[${index}].value`),
  }));
}

it('a SQL metric can be tried without being stored, and then created and read', async () => {
  const metrics = async () => (await service.api.get('/v1/billable-metrics')).list('data');
  const before = await metrics();
  expect(await usage('/v1/billable-metrics/preview', { sql: SQL })).toEqual(EXPECTED);
  expect(await metrics()).toEqual(before);
  const id = await createdId(service.api, '/v1/billable-metrics/create', { name: 'By query', sql: SQL });
  const metric = await service.api.get(`/v1/billable-metrics/${id}`);
  expect(metric.at('data')).toMatchObject({ name: 'By query', sql: SQL });
  expect(await usage('/v1/usage/groups', { billable_metric_id: id })).toEqual(EXPECTED);
});

it('the API says what a query costs that is tried out', async () => {
  const tried = async (sql: string) => {
    const request = { sql, customer_id: customerId, ...NOVEMBER, window_size: 'NONE' };
    return (await service.api.post('/v1/billable-metrics/preview', request)).at('evaluation');
  };
  expect(await tried('SELECT SUM(properties.tokens) FROM events')).toEqual({
    ...{ mode: 'along_hours', rows_read: 4, hourly_rows: 4, hourly_rows_max: 1_000_000_000 },
    milliseconds: expect.any(Number),
  });
  // Three hours have events, and on average half of them are before each.
  expect(await tried('SELECT MEDIAN(properties.tokens) FROM events')).toMatchObject({
    ...{ mode: 'at_each_hour', rows_read: 4, hourly_rows: 6 },
  });
});

it('the API lists its functions, as the checker of queries knows them', async () => {
  const answer = await service.api.get('/v1/billable-metrics/sql-reference');
  const names = answer.list('data.functions').map((_, index) => answer.text(`data.functions[${index}].name`));
  expect(names).toEqual(documentedFunctions().map(({ name }) => name));
  expect(answer.at(`data.functions[${names.indexOf('MEDIAN')}]`)).toMatchObject({
    ...{ group: 'aggregate', signature: 'MEDIAN(x)', is_hourly: false },
  });
});

it('the API refuses a query that reads anything else, names the place, and stores nothing', async () => {
  const before = (await service.api.get('/v1/billable-metrics')).list('data').length;
  for (const sql of ['SELECT count() FROM system.tables', 'SELECT COUNT(*) FROM events; DROP TABLE events']) {
    for (const path of ['/v1/billable-metrics/create', '/v1/billable-metrics/preview']) {
      const answer = await service.api.send('POST', path, {
        name: 'hostile',
        sql,
        customer_id: customerId,
        ...NOVEMBER,
        window_size: 'DAY',
      });
      expect(answer.status).toBe(400);
      expect(answer.text('message')).toMatch(/^sql: .*line 1/);
    }
  }
  expect((await service.api.get('/v1/billable-metrics')).list('data')).toHaveLength(before);
});

it('the API refuses a query together with the parts of a streaming metric', async () => {
  const answer = await service.api.send('POST', '/v1/billable-metrics/create', {
    name: 'both',
    sql: SQL,
    aggregation_type: 'COUNT',
  });
  expect(answer.status).toBe(400);
  expect(answer.text('message')).toBe('sql: cannot be combined with aggregation_type');
});

it.each([
  ['HOUR', ['2026-11-02', '2026-11-03']],
  ['SERVICE_PERIOD', ['2026-11-30']],
])('a SQL metric is invoiced with granularity %s, and its windows add up', async (granularity, days) => {
  const { api } = service;
  const metricId = await createdId(api, '/v1/billable-metrics/create', { name: 'By query', sql: SQL });
  const productId = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Tokens',
    type: 'USAGE',
    billable_metric_id: metricId,
    sql_breakdown_granularity: granularity,
    pricing_group_key: ['model'],
  });
  const rateCardId = await createdId(api, '/v1/contract-pricing/rate-cards/create', { name: 'card' });
  await api.post('/v1/contract-pricing/rate-cards/addRate', {
    rate_card_id: rateCardId,
    product_id: productId,
    starting_at: '2026-01-01T00:00:00Z',
    entitled: true,
    rate_type: 'FLAT',
    price: 2,
  });
  const contractId = await createdId(api, '/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
  });
  const invoices = await api.get(`/v1/customers/${customerId}/invoices`, {
    query: { contract_id: contractId },
  });
  const invoiceId = invoices.text('data[0].id');
  expect(invoices.digits('data[0].total')).toBe('3140.5');
  const breakdown = await api.get(`/v1/customers/${customerId}/invoices/breakdowns`, { query: NOVEMBER });
  const own: { day: string; total: string }[] = [];
  for (let next: unknown = null, page = breakdown; ; ) {
    for (const index of page.list('data').keys()) {
      if (page.at(`data[${index}].id`) !== invoiceId || page.digits(`data[${index}].total`) === '0') continue;
      own.push({
        day: page.text(`data[${index}].breakdown_start_timestamp`).slice(0, 10),
        total: page.digits(`data[${index}].total`),
      });
    }
    next = page.at('next_page');
    if (typeof next !== 'string') break;
    page = await api.get(`/v1/customers/${customerId}/invoices/breakdowns`, {
      query: { ...NOVEMBER, next_page: next },
    });
  }
  expect(own.map(({ day }) => day)).toEqual(days);
  expect(own.reduce((sum, { total }) => sum + Number(total), 0)).toBe(3140.5);
});
