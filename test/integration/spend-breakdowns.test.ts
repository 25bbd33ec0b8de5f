/** Spend by properties of events: filters, pages, CSV and limits. The numbers are in test/property/usage-spend.test.ts. */
import { beforeAll, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import { createdId } from '../support/catalogue-api.ts';
import { csvRows } from '../support/csv.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createScenario, type Scenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api } = service;
const RANGE = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2027-01-01T00:00:00Z' };

let scenario: Scenario;
let path: string;

function event(id: string, at: string, properties: Record<string, string | number | Record<string, string>>) {
  return {
    transaction_id: id,
    customer_id: 'ada',
    event_type: 'completion',
    timestamp: at,
    properties: { model: 'large', region: 'eu', ...properties },
  };
}

beforeAll(async () => {
  scenario = await createScenario(api, { alias: 'ada' });
  path = `/v1/customers/${scenario.customerId}/invoices/spend-breakdowns`;
  const fixed = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Setup',
    type: 'FIXED',
  });
  await api.post('/v2/contracts/edit', {
    customer_id: scenario.customerId,
    contract_id: scenario.contractId,
    add_scheduled_charges: [
      {
        product_id: fixed,
        schedule: { schedule_items: [{ timestamp: '2026-12-20T00:00:00Z', amount: 900 }] },
      },
    ],
  });
  await api.post('/v1/ingest', [
    // The first 1,000 tokens cost 0.03, the others 0.02.
    event('1', '2026-11-03T00:10:00Z', { tokens: 900, team: 'red', user: { name: 'ada' } }),
    event('2', '2026-11-04T00:10:00Z', { tokens: 300, team: 'red' }),
    event('3', '2026-11-04T00:20:00Z', { tokens: 100, team: 'blue' }),
  ]);
  await service.moveClock('2026-12-05T00:00:00Z');
  await api.post('/v1/ingest', [event('4', '2026-12-04T00:20:00Z', { tokens: 200 })]);
});

async function spend(
  body: Record<string, unknown> = {},
  query: Record<string, string | number> = {},
): Promise<ApiAnswer> {
  return api.post(path, { ...RANGE, group_key: ['team'], ...body }, { query });
}

/** Line, values and total of each group of an item. */
function groups(answer: ApiAnswer, item: number): string[] {
  return answer.list(`data[${item}].line_items`).flatMap((_, index) => {
    const line = `data[${item}].line_items[${index}]`;
    return answer.list(`${line}.groups`).map((__, place) => {
      const group = JSON.stringify(answer.at(`${line}.groups[${place}].group`));
      return `${answer.text(`${line}.name`)} ${group} ${answer.digits(`${line}.groups[${place}].total`)}`;
    });
  });
}

test('whole invoices, each hour in proportion to the usage, tiers in the order of time', async () => {
  const answer = await spend();
  expect(groups(answer, 0)).toEqual([
    'Requests {"team":"blue"} 2',
    'Requests {"team":"red"} 4',
    // 27 on the 3rd; on the 4th 100 tokens of both teams in tier 1, three quarters of them red.
    'Tokens {"team":"blue"} 0.75',
    'Tokens {"team":"red"} 29.25',
    'Tokens {"team":"blue"} 1.5',
    'Tokens {"team":"red"} 4.5',
  ]);
  expect(groups(answer, 1)).toEqual(['Requests {"team":null} 2', 'Tokens {"team":null} 6']);
  expect(groups(answer, 2)).toEqual(['Setup undefined 900']);
  expect([answer.text('data[0].status'), answer.text('data[1].status')]).toEqual(['FINALIZED', 'DRAFT']);
  expect(answer.digits('data[0].total')).toBe('42');
});

test('any property, nested ones too, and several at once', async () => {
  const answer = await spend({ group_key: ['user.name', 'team'], status: 'FINALIZED' });
  expect(groups(answer, 0).slice(0, 3)).toEqual([
    'Requests {"user.name":"ada","team":"red"} 2',
    'Requests {"user.name":null,"team":"blue"} 2',
    'Requests {"user.name":null,"team":"red"} 2',
  ]);
});

test('days, page by page', async () => {
  const range = { starting_on: '2026-11-03T00:00:00Z', ending_before: '2026-11-05T00:00:00Z' };
  const first = await spend({ ...range, window_size: 'day' }, { limit: 1 });
  expect(groups(first, 0)).toEqual(['Requests {"team":"red"} 2', 'Tokens {"team":"red"} 27']);
  const second = await spend(
    { ...range, window_size: 'day' },
    { limit: 1, next_page: first.text('next_page') },
  );
  expect(second.text('data[0].breakdown_start_timestamp')).toBe('2026-11-04T00:00:00.000Z');
  expect(groups(second, 0)).toHaveLength(6);
  expect(second.at('next_page')).toBeNull();
});

test('CSV has a row for each line and group', async () => {
  const body = { ...RANGE, group_key: ['team'], status: 'FINALIZED' };
  const answer = await api.post(path, body, { headers: { accept: 'text/csv' } });
  expect(csvRows(answer.body).map((row) => `${row.line_name} ${row.spend_group} ${row.total}`)).toEqual([
    'Requests {"team":"blue"} 2',
    'Requests {"team":"red"} 4',
    'Tokens {"team":"blue"} 0.75',
    'Tokens {"team":"red"} 29.25',
    'Tokens {"team":"blue"} 1.5',
    'Tokens {"team":"red"} 4.5',
  ]);
});

test('voided invoices are left out unless asked for', async () => {
  const { text } = await spend({ status: 'FINALIZED' });
  await api.post('/v1/invoices/void', { id: text('data[0].id') });
  expect((await spend()).text('data[0].status')).toBe('DRAFT');
  expect((await spend({ status: 'VOID' })).text('data[0].id')).toBe(text('data[0].id'));
});

test('a SQL metric takes up to a hundred values', async () => {
  const metricId = await createdId(api, '/v1/billable-metrics/create', {
    name: 'Calls by SQL',
    sql: 'SELECT count(*) AS value FROM events',
  });
  const productId = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Calls',
    type: 'USAGE',
    billable_metric_id: metricId,
  });
  await api.post('/v1/contract-pricing/rate-cards/addRate', {
    rate_card_id: scenario.rateCardId,
    product_id: productId,
    starting_at: '2026-12-01T00:00:00Z',
    entitled: true,
    rate_type: 'FLAT',
    price: 1,
  });
  const calls = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) =>
      event(`call ${from + index}`, '2026-12-04T01:00:00Z', { tokens: 0, team: `team ${from + index}` }),
    );
  await api.post('/v1/ingest', calls(0, 99));
  const answer = await spend({ status: 'DRAFT' });
  expect(groups(answer, 0).filter((group) => group.startsWith('Calls'))).toHaveLength(100);
  await api.post('/v1/ingest', calls(99, 1));
  const refused = await api.send('POST', path, { ...RANGE, group_key: ['team'] });
  expect([refused.status, refused.text('message')]).toEqual([
    413,
    'the events have more than 100 values of team, too many for the SQL metric "Calls by SQL"',
  ]);
});

test('a faulty request for a spend breakdown is refused', async () => {
  for (const wrong of [
    { group_key: [] },
    { group_key: ['a', 'b', 'c', 'd', 'e', 'f'] },
    { window_size: 'HOUR' },
    { ending_before: RANGE.starting_on },
  ]) {
    expect((await api.send('POST', path, { ...RANGE, group_key: ['team'], ...wrong })).status).toBe(400);
  }
  const unknown = '/v1/customers/00000000-0000-4000-8000-000000000000/invoices/spend-breakdowns';
  expect((await api.send('POST', unknown, { ...RANGE, group_key: ['team'] })).status).toBe(404);
});
