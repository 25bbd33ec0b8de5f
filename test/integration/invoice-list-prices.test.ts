/** Ids and list prices of lines: the same on drafts, issued invoices and breakdowns. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import { csvRows } from '../support/csv.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const RANGE = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };
const PRICES = { include_list_prices: true };

let scenario: Scenario;
let invoices: string;
let draft: ApiAnswer;
let issued: ApiAnswer;

beforeAll(async () => {
  scenario = await createScenario(service.api, { alias: 'ada' });
  invoices = `/v1/customers/${scenario.customerId}/invoices`;
  await service.api.post('/v2/contracts/edit', {
    customer_id: scenario.customerId,
    contract_id: scenario.contractId,
    add_overrides: [
      {
        starting_at: '2026-11-05T00:00:00Z',
        product_id: scenario.requestsProductId,
        type: 'MULTIPLIER',
        multiplier: 0.5,
      },
    ],
  });
  await service.api.post('/v1/ingest', [
    completion('ada', { id: 'ada-1', at: '2026-11-03T00:00:00Z', tokens: 1500 }),
    completion('ada', { id: 'ada-2', at: '2026-11-07T00:00:00Z', tokens: 80, model: 'small' }),
  ]);
  draft = await service.api.get(invoices, { query: PRICES });
  await service.moveClock('2026-12-02T00:00:00Z');
  await service.api.post('/v1/contract-pricing/rate-cards/addRate', {
    rate_card_id: scenario.rateCardId,
    product_id: scenario.requestsProductId,
    starting_at: '2026-01-01T00:00:00Z',
    entitled: true,
    rate_type: 'FLAT',
    price: 99,
  });
  const id = draft.text('data[0].id');
  issued = await service.api.get(`${invoices}/${id}`, { query: PRICES });
});

function column(answer: ApiAnswer, path: string, name: string): unknown[] {
  return answer.list(path).map((_, index) => answer.at(`${path}[${index}].${name}`));
}

const USD = { id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2', name: 'USD (cents)' };
const REQUESTS = { rate_type: 'FLAT', price: 2, credit_type: USD };
const LARGE = {
  rate_type: 'TIERED',
  tiers: [{ size: 1000, price: 0.03 }, { price: 0.02 }],
  pricing_group_values: { model: 'large' },
  credit_type: USD,
};
const SMALL = {
  rate_type: 'FLAT',
  price: 0.005,
  pricing_group_values: { model: 'small' },
  credit_type: USD,
};

describe('list prices', () => {
  test('list prices are those of the card, before overrides', () => {
    const lines = 'data[0].line_items';
    expect(column(draft, lines, 'unit_price').map(String)).toEqual(['2', '1', '0.03', '0.02', '0.005']);
    expect(column(draft, lines, 'list_price')).toEqual([REQUESTS, REQUESTS, LARGE, LARGE, SMALL]);
  });

  test('list prices of an issued invoice do not change with the card', () => {
    expect(issued.text('data.status')).toBe('FINALIZED');
    expect(column(issued, 'data.line_items', 'list_price')).toEqual(
      column(draft, 'data[0].line_items', 'list_price'),
    );
  });

  test('list prices are on the lines of breakdowns, of the list of all customers and in CSV', async () => {
    const breakdowns = await service.api.get(`${invoices}/breakdowns`, { query: { ...RANGE, ...PRICES } });
    expect(column(breakdowns, 'data[2].line_items', 'list_price')).toEqual([REQUESTS, LARGE, LARGE]);
    const all = await service.api.get('/v1/invoices', { query: PRICES });
    expect(all.at('data[0].line_items[0].list_price')).toEqual(REQUESTS);
    const csv = await service.api.get(`${invoices}/${issued.text('data.id')}`, {
      query: PRICES,
      headers: { accept: 'text/csv' },
    });
    expect(csvRows(csv.body).map((row) => row.list_price)).toEqual(
      [REQUESTS, REQUESTS, LARGE, LARGE, SMALL].map((one) => JSON.stringify(one)),
    );
  });

  test('list prices are absent unless asked for', async () => {
    const plain = await service.api.get(`${invoices}/${issued.text('data.id')}`);
    expect(column(plain, 'data.line_items', 'list_price')).toEqual(Array(5).fill(undefined));
  });
});

test('a line keeps its id when it is computed again, when it is issued, and in its windows', async () => {
  const ids = column(issued, 'data.line_items', 'id');
  expect(new Set(ids).size).toBe(5);
  expect(column(draft, 'data[0].line_items', 'id')).toEqual(ids);
  const breakdowns = await service.api.get(`${invoices}/breakdowns`, { query: RANGE });
  expect(column(breakdowns, 'data[2].line_items', 'id')).toEqual([ids[0], ids[2], ids[3]]);
  expect(column(breakdowns, 'data[6].line_items', 'id')).toEqual([ids[1], ids[4]]);
});
