/** Costs day by day are the sums of the daily breakdowns. */
import { beforeAll, expect, test } from 'vitest';
import { csvRows } from '../support/csv.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-12-05T00:00:00Z' });
const { api } = service;
const RANGE = { starting_on: '2026-11-29T00:00:00Z', ending_before: '2026-12-04T00:00:00Z' };
const USD = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';

let scenario: Scenario;
let costs: string;

beforeAll(async () => {
  scenario = await createScenario(api, { alias: 'ada', startingAt: '2026-11-29T12:00:00Z' });
  costs = `/v1/customers/${scenario.customerId}/costs`;
  await api.post('/v1/ingest', [
    completion('ada', { id: '1', at: '2026-11-29T13:00:00Z', tokens: 1_500 }),
    completion('ada', { id: '2', at: '2026-11-29T14:00:00Z', tokens: 100, model: 'small' }),
    completion('ada', { id: '3', at: '2026-12-02T14:00:00Z', tokens: 100, model: 'small' }),
  ]);
  // A second contract bills the same usage.
  await api.post('/v1/contracts/create', {
    customer_id: scenario.customerId,
    rate_card_id: scenario.rateCardId,
    starting_at: '2026-12-01T00:00:00Z',
  });
  await service.moveClock('2026-12-05T00:00:01Z');
});

test('add up all invoices of a day, drafts and issued ones, by name and group', async () => {
  const answer = await api.get(costs, { query: RANGE });
  const days = answer
    .list('data')
    .map((_, index) => answer.text(`data[${index}].start_timestamp`).slice(0, 10));
  expect(days).toEqual(['2026-11-29', '2026-11-30', '2026-12-01', '2026-12-02', '2026-12-03']);
  expect(answer.at('next_page')).toBeNull();
  const compound = (model: string) => ({ group: { model, region: 'eu' } });
  expect(answer.at(`data[0].credit_types.${USD}`)).toEqual({
    name: 'USD (cents)',
    cost: 44.5,
    line_item_breakdown: [
      { name: 'Requests', cost: 4 },
      { name: 'Tokens', cost: 40, ...compound('large') },
      { name: 'Tokens', cost: 0.5, ...compound('small') },
    ],
  });
  expect(answer.at('data[1].credit_types')).toEqual({});
  expect(answer.at(`data[3].credit_types.${USD}.cost`)).toBe(5);
});

test('costs by day come in pages of days, and in CSV all together', async () => {
  const first = await api.get(costs, { query: { ...RANGE, limit: 3 } });
  expect(first.list('data')).toHaveLength(3);
  const second = await api.get(costs, { query: { ...RANGE, limit: 3, next_page: first.text('next_page') } });
  expect([second.list('data').length, second.at('next_page')]).toEqual([2, null]);
  const csv = await api.get(costs, { query: RANGE, headers: { accept: 'text/csv' } });
  expect(csvRows(csv.body).map((row) => `${row.day_start} ${row.line_name} ${row.cost}`)).toEqual([
    '2026-11-29T00:00:00.000Z Requests 4',
    '2026-11-29T00:00:00.000Z Tokens 40',
    '2026-11-29T00:00:00.000Z Tokens 0.5',
    '2026-12-02T00:00:00.000Z Requests 4',
    '2026-12-02T00:00:00.000Z Tokens 1',
  ]);
});

test('costs by day leave out voided invoices', async () => {
  const invoices = await api.get('/v1/invoices', { query: { customer_id: scenario.customerId } });
  await api.post('/v1/invoices/void', { id: invoices.text('data[0].id') });
  const answer = await api.get(costs, { query: RANGE });
  expect(answer.at('data[0].credit_types')).toEqual({});
});

test('costs by day are refused for times within a day, an empty range and an unknown customer', async () => {
  for (const query of [
    { ...RANGE, starting_on: '2026-11-29T01:00:00Z' },
    { starting_on: RANGE.ending_before, ending_before: RANGE.starting_on },
  ]) {
    expect((await api.send('GET', costs, undefined, { query })).status).toBe(400);
  }
  const unknown = '/v1/customers/00000000-0000-4000-8000-000000000000/costs';
  expect((await api.send('GET', unknown, undefined, { query: RANGE })).status).toBe(404);
});
