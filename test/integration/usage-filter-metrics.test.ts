/** A usage filter needs a metric that can be grouped by its key, also where the product is added to the card later. */
import { beforeAll, beforeEach, expect, test } from 'vitest';
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
import { refusalOf } from '../support/refusal.ts';

const { api } = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const START = '2026-11-01T00:00:00.000Z';
const UPDATE = '/v1/contract-pricing/products/update';
let grouped: string;
let ungrouped: string;
let customer_id: string;
let rate_card_id: string;

beforeAll(async () => {
  grouped = await createdId(api, METRICS, TOKENS_METRIC);
  ungrouped = await createdId(api, METRICS, { ...TOKENS_METRIC, group_keys: [['region']] });
});
beforeEach(async () => {
  customer_id = await createdId(api, '/v1/customers', { name: 'Customer' });
  rate_card_id = await createdId(api, RATE_CARDS, { name: 'Card' });
});

const product = (billable_metric_id: string) =>
  createdId(api, PRODUCTS, { name: 'Tokens', type: 'USAGE', billable_metric_id });
const rate = (product_id: string) => ({
  rate_card_id,
  product_id,
  starting_at: START,
  entitled: true,
  rate_type: 'FLAT',
  price: 1,
});
const filtered = (fields: object = {}) =>
  createdId(api, CONTRACTS, {
    customer_id,
    rate_card_id,
    starting_at: START,
    usage_filter: { group_key: 'model', group_values: ['a'] },
    ...fields,
  });

test('a rate for a product whose metric lacks the key of a contract’s filter is refused', async () => {
  const contract = await filtered();
  expect(await refusalOf(api, ADD_RATE, rate(await product(ungrouped)))).toMatch(
    new RegExp(`^product_id: contract ${contract} filters usage by model, but .* no group key`),
  );
  expect((await api.send('POST', ADD_RATE, rate(await product(grouped)))).status).toBe(200);
});

test('a metric that lacks the key is no update of a product on the card', async () => {
  const product_id = await product(grouped);
  await api.post(ADD_RATE, rate(product_id));
  const swap = { product_id, starting_at: '2026-12-01T00:00:00Z', billable_metric_id: ungrouped };
  const contract = await filtered();
  expect(await refusalOf(api, UPDATE, swap)).toMatch(
    new RegExp(`^billable_metric_id: contract ${contract} `),
  );
  await api.post(UPDATE, { product_id, starting_at: swap.starting_at, name: 'Renamed' });
  await api.post('/v1/contracts/archive', { customer_id, contract_id: contract, void_invoices: false });
  await api.post(UPDATE, swap);
});

test('a filter is checked against versions of a product that begin later', async () => {
  const product_id = await product(grouped);
  await api.post(ADD_RATE, rate(product_id));
  await api.post(UPDATE, { product_id, starting_at: '2026-11-05T00:00:00Z', billable_metric_id: ungrouped });
  await api.post(UPDATE, { product_id, starting_at: '2026-12-01T00:00:00Z', billable_metric_id: grouped });
  const body = { customer_id, rate_card_id, starting_at: START };
  const usage_filter = { group_key: 'model', group_values: ['a'] };
  expect(await refusalOf(api, CONTRACTS, { ...body, usage_filter })).toMatch(/^usage_filter\.group_key: /);
  await filtered({ starting_at: '2026-12-01T00:00:00Z' });
});

test('where it is so already, the invoice warns of it', async () => {
  await filtered({ ending_before: '2026-11-09T23:00:00Z' });
  const late = await product(ungrouped);
  await api.post(ADD_RATE, rate(late));
  const drafts = await api.get(`/v1/customers/${customer_id}/invoices`);
  const warnings = [
    expect.objectContaining({
      code: 'usage_filter_without_group_key',
      message: expect.stringContaining('usage filter'),
      product_id: late,
      billable_metric_id: ungrouped,
      starting_at: START,
      ending_before: '2026-11-09T23:00:00.000Z',
    }),
  ];
  expect(drafts.at('data[0].warnings')).toEqual(warnings);
  await api.post('/v1/sandbox/clock', { now: '2026-11-12T00:00:00Z' });
  const id = drafts.text('data[0].id');
  const issued = await api.get(`/v1/customers/${customer_id}/invoices/${id}`);
  expect(issued.text('data.status')).toBe('FINALIZED');
  expect(issued.at('data.warnings')).toEqual(warnings);
});
