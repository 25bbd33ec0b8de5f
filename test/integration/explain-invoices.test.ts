/** Explanations of invoice lines: the figures give the lines, for drafts and for issued invoices. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import {
  ADD_RATE,
  ADD_RATES,
  CONTRACTS,
  createdId,
  METRICS,
  PRODUCTS,
  RATE_CARDS,
  TOKENS_METRIC,
} from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-25T00:00:00Z' });
const { api } = service;
const JANUARY = '2026-01-01T00:00:00Z';
const NOVEMBER = '2026-11-01T00:00:00Z';
const DECEMBER = '2026-12-01T00:00:00Z';

let people = 0;
let events = 0;

async function customerNamed(name: string): Promise<{ customerId: string; alias: string }> {
  people += 1;
  const alias = `${name}-${people}`;
  return {
    alias,
    customerId: await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] }),
  };
}

async function use(alias: string, ...used: (readonly [at: string, tokens: number, model?: string])[]) {
  const sent = used.map(([at, tokens, model = 'large']) => {
    events += 1;
    return completion(alias, { id: `x${events}`, at: `2026-11-${at}:00:00Z`, tokens, model });
  });
  await api.post('/v1/ingest', sent);
}

const tokensMetric = () => createdId(api, METRICS, TOKENS_METRIC);

async function explain(customerId: string, query: Record<string, string | number> = {}): Promise<ApiAnswer> {
  const list = await api.get(`/v1/customers/${customerId}/invoices`, { query: { type: 'USAGE' } });
  return api.get(`/v1/customers/${customerId}/invoices/${list.text('data[0].id')}/explain`, {
    query: { limit: 100, ...query },
  });
}

/** The formulas of all lines, each of which must give its line. */
function formulas(answer: ApiAnswer): string[][] {
  return answer.list('data').map((line, index) => {
    expect(line).toMatchObject({ line_number: index + 1, is_reproduced: true });
    return answer.list(`data[${index}].formula`).map(String);
  });
}

/** Thousands of tokens in two tiers, and a tenth less from the middle of the month. */
async function workedExample() {
  const { alias, customerId } = await customerNamed('worked');
  // Before the contract, whose invoice may be due as soon as it exists.
  await use(alias, ['03T10', 6_000], ['10T11', 5_240], ['20T12', 2_000]);
  const product_id = await createdId(api, PRODUCTS, {
    name: 'Tokens',
    type: 'USAGE',
    billable_metric_id: await tokensMetric(),
    quantity_conversion: { name: 'Thousands', conversion_factor: 1000, operation: 'DIVIDE' },
    quantity_rounding: { rounding_method: 'ROUND_HALF_UP', decimal_places: 1 },
  });
  const rate_card_id = await createdId(api, RATE_CARDS, { name: 'Card' });
  await api.post(ADD_RATE, {
    ...{ rate_card_id, product_id, starting_at: JANUARY, entitled: true },
    ...{ rate_type: 'TIERED', tiers: [{ size: 10, price: 30 }, { price: 20 }] },
  });
  const contract = await createdId(api, CONTRACTS, {
    ...{ customer_id: customerId, rate_card_id, starting_at: NOVEMBER },
    overrides: [{ starting_at: '2026-11-16T00:00:00Z', type: 'MULTIPLIER', multiplier: 0.9, product_id }],
  });
  return { alias, customerId, product_id, rate_card_id, contract };
}

const JSON_ID = /[0-9a-f]{8}-[0-9a-f-]{27}/g;

test('the worked example of docs/explanation/rating.md is what the service answers, before and after it is issued', async () => {
  const { customerId, rate_card_id, product_id, alias } = await workedExample();
  const answer = await explain(customerId);
  const steps = formulas(answer).map((lines) => lines.map((line) => line.replaceAll(JSON_ID, '…')));
  const docs = await readFile(new URL('../../docs/explanation/rating.md', import.meta.url), 'utf8');
  const [, example = ''] = docs.split('## A worked example');
  const blocks = [...example.matchAll(/```text\n([\s\S]*?)```/g)].map(([, text = '']) =>
    text.trim().split('\n'),
  );
  expect(steps).toEqual(blocks.slice(0, 3));
  expect(answer.list('data').map((_, index) => answer.digits(`data[${index}].line_item.total`))).toEqual([
    '300',
    '24',
    '36',
  ]);
  expect(answer.at('data[0].usage')).toMatchObject({
    metric: { name: 'Tokens', aggregation_type: 'SUM', aggregation_key: 'tokens' },
    event_count: 2,
    value_at_start: 0,
    value_at_end: 11240,
    quantity_conversion: { operation: 'DIVIDE', conversion_factor: 1000 },
    quantity_rounding: { rounding_method: 'ROUND_HALF_UP', decimal_places: 1 },
  });
  expect(answer.at('data[2].price')).toMatchObject({
    list_rate: { rate_card_id, starting_at: '2026-01-01T00:00:00.000Z', rate: { rate_type: 'TIERED' } },
    list_price: 20,
    override: { type: 'MULTIPLIER', multiplier: 0.9, starting_at: '2026-11-16T00:00:00.000Z' },
    tier: { level: 2, above: 10 },
  });
  // Issued, it says the same, whatever prices and events come later.
  const before = answer.body;
  await service.moveClock('2026-12-03T00:00:00Z');
  await api.post(ADD_RATE, {
    ...{ rate_card_id, product_id, starting_at: NOVEMBER, entitled: true, rate_type: 'FLAT', price: 1 },
  });
  await use(alias, ['04T10', 1_000]);
  expect((await explain(customerId)).body).toEqual(before);
});

test('pages of lines are the whole, and a cursor of another list is refused', async () => {
  const { customerId } = await workedExample();
  const whole = await explain(customerId);
  const parts: unknown[] = [];
  let next_page: string | undefined;
  do {
    const page: ApiAnswer = await explain(customerId, {
      limit: 1,
      ...(next_page === undefined ? {} : { next_page }),
    });
    parts.push(...page.list('data'));
    const cursor = page.at('next_page');
    next_page = typeof cursor === 'string' ? cursor : undefined;
  } while (next_page !== undefined);
  expect(parts).toEqual(whole.list('data'));
  const id = (await api.get(`/v1/customers/${customerId}/invoices`)).text('data[0].id');
  const path = `/v1/customers/${customerId}/invoices/${id}/explain`;
  expect((await api.send('GET', `${path}?next_page=abc`)).status).toBe(400);
  const other = (await customerNamed('other')).customerId;
  expect((await api.send('GET', `/v1/customers/${other}/invoices/${id}/explain`)).status).toBe(404);
});

describe('usage', () => {
  test('usage by group values is explained with those values, its filter and its own events', async () => {
    const { alias, customerId } = await customerNamed('grouped');
    // Before the contract, whose invoice may be due as soon as it exists.
    await use(alias, ['03T10', 5, 'a'], ['04T10', 6, 'a'], ['04T10', 7, 'b'], ['04T10', 8, 'c']);
    const product_id = await createdId(api, PRODUCTS, {
      ...{ name: 'Models', type: 'USAGE', billable_metric_id: await tokensMetric() },
      ...{ pricing_group_key: ['model'], presentation_group_key: ['region'] },
    });
    const rate_card_id = await createdId(api, RATE_CARDS, { name: 'Card' });
    const rate = { product_id, starting_at: JANUARY, entitled: true, rate_type: 'FLAT' };
    await api.post(ADD_RATES, {
      rate_card_id,
      rates: [
        { ...rate, price: 2, pricing_group_values: { model: 'a' } },
        { ...rate, price: 3 },
      ],
    });
    await createdId(api, CONTRACTS, {
      ...{ customer_id: customerId, rate_card_id, starting_at: NOVEMBER },
      usage_filter: { group_key: 'model', group_values: ['a', 'b'], starting_at: NOVEMBER },
      overrides: [
        {
          ...{ starting_at: NOVEMBER, type: 'OVERWRITE', overwrite_rate: { rate_type: 'FLAT', price: 1 } },
          override_specifiers: [{ product_id, pricing_group_values: { model: 'b' } }],
        },
      ],
    });
    const answer = await explain(customerId);
    formulas(answer);
    expect(answer.list('data')).toMatchObject([
      {
        line_item: { pricing_group_values: { model: 'a' }, total: 22 },
        usage: {
          ...{ event_count: 2, grouped_by: ['model', 'region'] },
          usage_filter: { group_key: 'model', group_values: ['a', 'b'] },
        },
        price: { list_rate: { rate: { price: 2, pricing_group_values: { model: 'a' } } } },
      },
      {
        line_item: { pricing_group_values: { model: 'b' }, total: 7 },
        usage: { event_count: 1 },
        price: { list_price: 3, override: { type: 'OVERWRITE' }, rate: { price: 1 } },
      },
    ]);
  });

  test('usage continues over a change of the metric from its value then', async () => {
    const { alias, customerId } = await customerNamed('swapped');
    // Before the contract, whose invoice may be due as soon as it exists.
    await use(alias, ['03T10', 4], ['04T10', 6], ['12T10', 100], ['12T11', 100], ['12T12', 100]);
    const countId = await createdId(api, METRICS, {
      ...{ name: 'Requests', aggregation_type: 'COUNT', event_type_filter: { in_values: ['completion'] } },
    });
    const product_id = await createdId(api, PRODUCTS, {
      ...{ name: 'Work', type: 'USAGE', billable_metric_id: await tokensMetric() },
    });
    await api.post('/v1/contract-pricing/products/update', {
      ...{ product_id, starting_at: '2026-11-10T00:00:00Z', billable_metric_id: countId },
    });
    const rate_card_id = await createdId(api, RATE_CARDS, { name: 'Card' });
    await api.post(ADD_RATE, {
      ...{ rate_card_id, product_id, starting_at: JANUARY, entitled: true },
      ...{ rate_type: 'TIERED', tiers: [{ size: 12, price: 3 }, { price: 2 }] },
    });
    await createdId(api, CONTRACTS, { customer_id: customerId, rate_card_id, starting_at: NOVEMBER });
    const answer = await explain(customerId);
    const [, second] = formulas(answer);
    expect(second).toEqual([
      'value: V(2026-11-10T00:00:00Z) = 10, V(2026-12-01T00:00:00Z) = 13; counted from 2026-11-01T00:00:00Z, 3 events in this time; it continues from 10 at 2026-11-10T00:00:00Z',
      'quantity: Q(t) = 10 + V(t) - 10; Q(2026-11-10T00:00:00Z) = 10, Q(2026-12-01T00:00:00Z) = 13',
      'tier 1, above 0 up to 12: from 10 to 13 in these bounds: 12 - 10 = 2',
      'unit price: list price 3',
      'total: 2 * 3 = 6',
    ]);
  });

  test('usage of a SQL metric is explained with its text and the events that it reads', async () => {
    const { alias, customerId } = await customerNamed('sql');
    // Before the contract, whose invoice may be due as soon as it exists.
    await use(alias, ['03T10', 4], ['04T10', 6]);
    const sql = 'SELECT sum(properties.tokens) AS value FROM events';
    const product_id = await createdId(api, PRODUCTS, {
      ...{
        name: 'Work',
        type: 'USAGE',
        billable_metric_id: await createdId(api, METRICS, { name: 'Sum', sql }),
      },
    });
    const rate_card_id = await createdId(api, RATE_CARDS, { name: 'Card' });
    await api.post(ADD_RATE, {
      ...{ rate_card_id, product_id, starting_at: JANUARY, entitled: true, rate_type: 'FLAT', price: 2 },
    });
    await createdId(api, CONTRACTS, { customer_id: customerId, rate_card_id, starting_at: NOVEMBER });
    const answer = await explain(customerId);
    formulas(answer);
    expect(answer.at('data[0].usage')).toMatchObject({ metric: { sql }, event_count: 2, value_at_end: 10 });
  });
});

test('composites, their minimum, conversions and scheduled lines name what they count', async () => {
  const { alias, customerId } = await customerNamed('composites');
  // Before the contract, whose invoice may be due as soon as it exists.
  await use(alias, ['03T10', 700], ['05T11', 300]);
  const { tokensProductId, requestsProductId } = await createScenario(api, { alias: `${alias}-other` });
  const unit = await createdId(api, '/v1/credit-types/create', { name: `Credits ${alias}` });
  const rate_card_id = await createdId(api, RATE_CARDS, {
    name: 'In credits',
    credit_type_conversions: [{ custom_credit_type_id: unit, fiat_per_custom_credit: 2.5 }],
  });
  const support = await createdId(api, PRODUCTS, {
    ...{ name: 'Support', type: 'COMPOSITE', composite_product_ids: [tokensProductId, requestsProductId] },
  });
  const fee = await createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' });
  const rate = { starting_at: JANUARY, entitled: true };
  await api.post(ADD_RATES, {
    rate_card_id,
    rates: [
      { ...rate, product_id: tokensProductId, rate_type: 'FLAT', price: 0.01, credit_type_id: unit },
      {
        ...{ ...rate, product_id: support, rate_type: 'TIERED_PERCENTAGE', minimum_config: { minimum: 8 } },
        tiers: [{ size: 8, price: 0.1 }, { price: 0.05 }],
      },
      { ...rate, product_id: requestsProductId, rate_type: 'FLAT', price: 2 },
    ],
  });
  await createdId(api, CONTRACTS, {
    ...{ customer_id: customerId, rate_card_id, starting_at: NOVEMBER },
    scheduled_charges_on_usage_invoices: 'ALL',
    scheduled_charges: [
      {
        product_id: fee,
        schedule: { schedule_items: [{ timestamp: DECEMBER, unit_price: 5, quantity: 2 }] },
      },
    ],
  });
  const expected = [
    ['total: 2 * 5 = 10'],
    expect.arrayContaining(['total: 1000 * 0.01 = 10']),
    [
      'base of this time: 10 = 10',
      'tier 1, above 0 up to 8: from 0 to 10 in these bounds: 8 - 0 = 8',
      'unit price: list price 0.1',
      'total: 8 * 0.1 = 0.8',
    ],
    [
      'base of this time: 10 = 10',
      'tier 2, above 8: from 0 to 10 in these bounds: 10 - 8 = 2',
      'unit price: list price 0.05',
      'total: 2 * 0.05 = 0.1',
    ],
    [
      'base of this time: 4 = 4',
      'tier 1, above 0 up to 8: from 0 to 4 in these bounds: 4 - 0 = 4',
      'unit price: list price 0.1',
      'total: 4 * 0.1 = 0.4',
    ],
    [
      'percentages of the period in the currency: 2 + 0.25 + 0.4 = 2.65',
      'missing to the minimum: 8 - 2.65 = 5.35',
    ],
    expect.arrayContaining(['total: 2 * 2 = 4']),
    ['lines in the unit: 10 + 0.8 + 0.1 = 10.9', 'total: 10.9 * 2.5 = 27.25'],
  ];
  expect(formulas(await explain(customerId))).toEqual(expected);
  const draft = await explain(customerId);
  expect(draft.at('data[2].composite')).toMatchObject({
    composite_product_ids: [tokensProductId, requestsProductId],
    counted_lines: [{ line_number: 2, name: 'Tokens', amount: 10 }],
    base_at_start: 0,
    base_at_end: 10,
  });
  await service.moveClock('2026-12-03T01:00:00Z');
  expect(formulas(await explain(customerId))).toEqual(expected);
});

describe('balances', () => {
  const november = { starting_at: NOVEMBER, ending_before: DECEMBER };

  /** 30 units at 20: a credit pays for 7.5 of them, a commit for 10 at its commit rate of 15, nobody for the rest. */
  async function paidUsage() {
    const { alias, customerId } = await customerNamed('paid');
    await use(alias, ['03T10', 30]);
    const product_id = await createdId(api, PRODUCTS, {
      ...{ name: 'Units', type: 'USAGE', billable_metric_id: await tokensMetric() },
    });
    const fixed = await createdId(api, PRODUCTS, { name: 'Prepaid', type: 'FIXED' });
    const rate_card_id = await createdId(api, RATE_CARDS, { name: 'Card' });
    await api.post(ADD_RATE, {
      ...{ rate_card_id, product_id, starting_at: JANUARY, entitled: true, rate_type: 'FLAT', price: 20 },
      commit_rate: { rate_type: 'FLAT', price: 15 },
    });
    const access = (amount: number) => ({ access_schedule: { schedule_items: [{ amount, ...november }] } });
    const contract_id = await createdId(api, CONTRACTS, {
      ...{ customer_id: customerId, rate_card_id, starting_at: NOVEMBER },
      credits: [{ product_id: fixed, name: 'Trial', ...access(150) }],
      commits: [
        {
          ...{ product_id: fixed, name: 'Bought', type: 'PREPAID', priority: 200, ...access(150) },
          rate_type: 'COMMIT_RATE',
        },
      ],
    });
    return { customerId, contract_id };
  }

  test('pay for units of the counter, with their place, their rate and what they had', async () => {
    const { customerId, contract_id } = await paidUsage();
    const answer = await explain(customerId);
    const texts = formulas(answer).map((steps) => steps.slice(2));
    expect(texts).toEqual([
      [
        'balance: "Trial", number 1 of 2 in the order',
        'what it had, without other lines of this invoice, without this line: 150 - 0 - 150 = 0',
        'covered: units above 0 up to 7.5 of the quantity: 7.5',
        'unit price: list price 20',
        'total: 7.5 * 20 = 150',
      ],
      ['takes back line 1, "Units": 0 - 150 = -150'],
      [
        'balance: "Bought", number 2 of 2 in the order after "Trial": the lower priority comes first',
        'what it had, without other lines of this invoice, without this line: 150 - 0 - 150 = 0',
        'covered: units above 7.5 up to 17.5 of the quantity: 10',
        'unit price: commit rate 15',
        'total: 10 * 15 = 150',
      ],
      ['takes back line 3, "Units": 0 - 150 = -150'],
      [
        'not covered: units above 17.5 up to 30 of the quantity: 12.5',
        'unit price: list price 20',
        'total: 12.5 * 20 = 250',
      ],
    ]);
    expect(answer.at('data[2]')).toMatchObject({
      kind: 'usage',
      price: { is_commit_rate: true, list_price: 15 },
      share: {
        balance: {
          name: 'Bought',
          type: 'PREPAID',
          rate_type: 'COMMIT_RATE',
          position: 2,
          balance_count: 2,
          decided_by: 'PRIORITY',
          before_invoice: 150,
          after_invoice: 0,
        },
        ranges: [{ above: 7.5, up_to: 17.5, amount: 150 }],
      },
    });
    expect(answer.at('data[3]')).toMatchObject({
      kind: 'applied',
      covered_line: { line_number: 3, amount: 150 },
    });
    // Issued, it says the same, whatever becomes of the balances.
    await service.moveClock('2027-01-03T00:00:00Z');
    const commit_id = answer.text('data[2].share.balance.id');
    await api.post('/v2/contracts/edit', {
      ...{ customer_id: customerId, contract_id },
      update_commits: [{ commit_id, priority: 1, rate_type: 'LIST_RATE' }],
    });
    const invoices = await api.get(`/v1/customers/${customerId}/invoices`, {
      query: { type: 'USAGE', status: 'FINALIZED', sort: 'date_asc' },
    });
    const issued = await api.get(
      `/v1/customers/${customerId}/invoices/${invoices.text('data[0].id')}/explain`,
    );
    expect(issued.body).toEqual(answer.body);
  });
});
