/** `exclude` in specifiers: what it names is neither repriced nor paid for, on invoices and everywhere else. */
import { beforeAll, expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import {
  ADD_RATES,
  CONTRACTS,
  createdId,
  METRICS,
  PRODUCTS,
  RATE_CARDS,
  TOKENS_METRIC,
} from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion } from '../support/scenario.ts';
import type { Body } from '../support/term-fixtures.ts';

const { api } = await serviceForFile({ usage: 'naive', sandboxNow: '2026-11-25T00:00:00Z' });
const START = '2026-11-01T00:00:00Z';
const END = '2027-11-01T00:00:00Z';
const NAMES = ['Chat', 'Chat beta', 'Storage', 'Storage beta'] as const;
const TAGS: Readonly<Record<(typeof NAMES)[number], string[]>> = {
  Chat: ['llm'],
  'Chat beta': ['llm', 'beta'],
  Storage: [],
  'Storage beta': ['beta'],
};
const WITHOUT_BETA = { exclude: [{ product_tags: ['beta'] }] };

let rate_card_id: string;
let fee: string;
const products = new Map<string, string>();

beforeAll(async () => {
  const billable_metric_id = await createdId(api, METRICS, TOKENS_METRIC);
  rate_card_id = await createdId(api, RATE_CARDS, { name: 'Card' });
  fee = await createdId(api, PRODUCTS, { type: 'FIXED', name: 'Fee' });
  for (const name of NAMES) {
    const usage = { type: 'USAGE', name, billable_metric_id, tags: TAGS[name] };
    const product_id = await createdId(api, PRODUCTS, usage);
    products.set(name, product_id);
    const rate = { product_id, starting_at: START, entitled: true, rate_type: 'FLAT', price: 2 };
    await api.post(ADD_RATES, { rate_card_id, rates: [rate] });
  }
});

let customers = 0;

/** A customer whose 10 tokens every product counts, under these terms. */
async function customerWith(terms: Body): Promise<{ customer_id: string; contract_id: string }> {
  customers += 1;
  const alias = `excludes-${customers}`;
  const customer_id = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const at = '2026-11-10T10:00:00Z';
  await api.post('/v1/ingest', [completion(alias, { id: alias, at, tokens: 10, model: 'large' })]);
  const contract_id = await createdId(api, CONTRACTS, {
    customer_id,
    rate_card_id,
    starting_at: START,
    ...terms,
  });
  return { customer_id, contract_id };
}

/** Unit price and total of each line of the draft, by its name. */
async function draftOf(customer_id: string): Promise<Record<string, number[]>> {
  const drafts = await api.get(`/v1/customers/${customer_id}/invoices`, { query: { type: 'USAGE' } });
  const lines: Record<string, number[]> = {};
  for (const line of drafts.list('data[0].line_items') as { name: string; [name: string]: unknown }[]) {
    lines[line.name] = [Number(line.unit_price), Number(line.total)];
  }
  return lines;
}

const multiplier = (specifier: Body) => ({
  starting_at: START,
  type: 'MULTIPLIER',
  multiplier: 0.5,
  override_specifiers: [specifier],
});

test.each<[string, Body, readonly string[]]>([
  ['everything', WITHOUT_BETA, ['Chat', 'Storage']],
  ['what carries a tag', { product_tags: ['llm'], ...WITHOUT_BETA }, ['Chat']],
  [
    'what carries both tags of one entry',
    { exclude: [{ product_tags: ['llm', 'beta'] }] },
    ['Chat', 'Storage', 'Storage beta'],
  ],
  ['what meets any entry', { exclude: [{ product_tags: ['llm'] }, { product_tags: ['beta'] }] }, ['Storage']],
])('an override of %s but what it excludes', async (_, specifier, halved) => {
  const { customer_id, contract_id } = await customerWith({ overrides: [multiplier(specifier)] });
  const expected = Object.fromEntries(NAMES.map((name) => [name, halved.includes(name) ? [1, 10] : [2, 20]]));
  expect(await draftOf(customer_id)).toEqual(expected);

  const schedule = await api.post('/v1/contracts/getContractRateSchedule', {
    ...{ customer_id, contract_id },
    at: '2026-11-10T00:00:00Z',
  });
  const prices = schedule.list('data').map((row) => {
    const { product_name, override_rate } = row as {
      product_name: string;
      override_rate?: { price: number };
    };
    return [product_name, override_rate?.price ?? null];
  });
  expect(Object.fromEntries(prices)).toEqual(
    Object.fromEntries(NAMES.map((name) => [name, halved.includes(name) ? 1 : null])),
  );
});

test('an OVERWRITE of a product does not apply where the product carries the tag that it excludes', async () => {
  const product_id = products.get('Storage') ?? '';
  const overwrite = {
    starting_at: START,
    type: 'OVERWRITE',
    overwrite_rate: { rate_type: 'FLAT', price: 7 },
  };
  const specifiers = [
    { product_id, ...WITHOUT_BETA },
    { product_id: products.get('Chat beta'), ...WITHOUT_BETA },
  ];
  const { customer_id } = await customerWith({
    overrides: [{ ...overwrite, override_specifiers: specifiers }],
  });
  expect(await draftOf(customer_id)).toMatchObject({ Storage: [7, 70], 'Chat beta': [2, 20] });
});

const access_schedule = {
  credit_type_id: USD_CENTS.id,
  schedule_items: [{ amount: 1_000, starting_at: START, ending_before: END }],
};

test('a balance pays for everything but what it excludes, explained as it is invoiced', async () => {
  const credit = { product_id: fee, name: 'Not for beta', access_schedule, specifiers: [WITHOUT_BETA] };
  const { customer_id, contract_id } = await customerWith({ credits: [credit] });
  const drafts = await api.get(`/v1/customers/${customer_id}/invoices`, { query: { type: 'USAGE' } });
  expect(drafts.digits('data[0].total')).toBe('40');
  const read = await api.post('/v2/contracts/get', { customer_id, contract_id });
  const explained = await api.get(
    `/v1/customers/${customer_id}/invoices/${drafts.text('data[0].id')}/explain`,
    { query: { limit: 100 } },
  );
  const lines = explained.list('data') as {
    readonly is_reproduced: boolean;
    readonly line_item: { readonly name: string; readonly applied_commit_or_credit?: object };
  }[];
  expect(lines.every(({ is_reproduced }) => is_reproduced)).toBe(true);
  const paid = lines.filter(({ line_item }) => line_item.applied_commit_or_credit !== undefined);
  expect([...new Set(paid.map(({ line_item }) => line_item.name))].sort()).toEqual([
    'Chat',
    'Not for beta applied',
    'Storage',
  ]);
  for (const { line_item } of paid) {
    expect(line_item.applied_commit_or_credit).toEqual({
      id: read.text('data.credits[0].id'),
      type: 'CREDIT',
    });
  }
  const balances = await api.post('/v1/contracts/customerBalances/list', {
    customer_id,
    include_balance: true,
  });
  expect(balances.digits('data[0].balance')).toBe('960');
  expect(balances.at('data[0].specifiers')).toEqual([WITHOUT_BETA]);
  expect(read.at('data.credits[0].specifiers')).toEqual([WITHOUT_BETA]);
});

test('the balance of a customer, a recurring one and one that an edit changes exclude likewise', async () => {
  const { customer_id, contract_id } = await customerWith({
    recurring_credits: [
      {
        product_id: fee,
        access_amount: { unit_price: 15, quantity: 1, credit_type_id: USD_CENTS.id },
        priority: 1,
        starting_at: START,
        commit_duration: { value: 1 },
        recurrence_frequency: 'MONTHLY',
        specifiers: [{ product_tags: ['llm'], ...WITHOUT_BETA }],
      },
    ],
  });
  const totalOf = async () => {
    const drafts = await api.get(`/v1/customers/${customer_id}/invoices`, { query: { type: 'USAGE' } });
    return drafts.digits('data[0].total');
  };
  expect(await totalOf()).toBe('65');
  const credit_id = await createdId(api, '/v1/contracts/customerCredits/create', {
    ...{ customer_id, product_id: fee, priority: 2, access_schedule },
    specifiers: [{ exclude: [{ product_tags: ['beta'] }, { product_tags: ['llm'] }] }],
  });
  expect(await totalOf()).toBe('45');
  await api.post('/v2/contracts/credits/edit', { customer_id, credit_id, specifiers: [WITHOUT_BETA] });
  expect(await totalOf()).toBe('40');
  const recurring = await api.post('/v2/contracts/get', { customer_id, contract_id });
  expect(recurring.at('data.recurring_credits[0].specifiers')).toEqual([
    { product_tags: ['llm'], ...WITHOUT_BETA },
  ]);
});

test('a balance with fewer products because of what it excludes is drawn down first', async () => {
  const credit = (name: string, specifier: Body) => ({
    ...{ product_id: fee, name, access_schedule, specifiers: [specifier] },
  });
  const { customer_id } = await customerWith({
    credits: [
      credit('wide', { product_tags: ['llm'] }),
      credit('narrow', { product_tags: ['llm'], ...WITHOUT_BETA }),
    ],
  });
  const order = await api.get(`/v1/customers/${customer_id}/drawdownOrder`);
  expect(order.at('data')).toMatchObject([
    { name: 'narrow', balance: 980 },
    { name: 'wide', balance: 980, decided_by: 'PRODUCT_APPLICABILITY' },
  ]);
});
