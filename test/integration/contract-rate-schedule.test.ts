import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import {
  ADD_RATES,
  CONTRACTS,
  createCatalogueApi,
  createdId,
  METRICS,
  PRODUCTS,
  RATE_CARDS,
  TOKENS_METRIC,
} from '../support/catalogue-api.ts';
import { databaseForFile } from '../support/file-fixtures.ts';

const pool = await databaseForFile();
let api: ApiClient;
let customer: string;
let card: string;
let tokens: string;
let plain: string;
let seats: string;
let unit: string;

const PATH = '/v1/contracts/getContractRateSchedule';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const day = (month: number, date = 1) => new Date(Date.UTC(2026, month - 1, date)).toISOString();

beforeAll(async () => {
  // The clock stands at 2026-11-20.
  api = createCatalogueApi(pool.db);
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
  const billable_metric_id = await createdId(api, METRICS, TOKENS_METRIC);
  const usage = { type: 'USAGE', billable_metric_id };
  tokens = await createdId(api, PRODUCTS, {
    ...usage,
    name: 'Tokens',
    tags: ['llm'],
    pricing_group_key: ['model', 'region'],
  });
  plain = await createdId(api, PRODUCTS, { ...usage, name: 'Plain', tags: ['old', 'cheap'] });
  seats = await createdId(api, PRODUCTS, { name: 'Seats', type: 'SUBSCRIPTION' });
  unit = await createdId(api, '/v1/credit-types/create', { name: 'Coins' });
  card = await createdId(api, RATE_CARDS, {
    name: 'Card',
    credit_type_conversions: [{ custom_credit_type_id: unit, fiat_per_custom_credit: 2 }],
  });
  const rate = (price: number, from = 1) => ({
    starting_at: day(from),
    entitled: true,
    rate_type: 'FLAT',
    price,
  });
  const group = (model: string, region: string) => ({
    product_id: tokens,
    pricing_group_values: { model, region },
  });
  await api.post(ADD_RATES, {
    rate_card_id: card,
    rates: [
      { ...rate(1), ...group('large', 'eu') },
      { ...rate(2), ...group('large', 'us') },
      { ...rate(3), ...group('small', 'eu'), entitled: false },
      { ...rate(5), product_id: plain, commit_rate: { rate_type: 'FLAT', price: 4 } },
      { ...rate(6, 12), product_id: plain },
      { ...rate(7), product_id: seats, billing_frequency: 'MONTHLY' },
      { ...rate(8), product_id: seats, billing_frequency: 'ANNUAL' },
    ],
  });
});

async function contract(...overrides: object[]): Promise<string> {
  return createdId(api, CONTRACTS, {
    customer_id: customer,
    rate_card_id: card,
    starting_at: day(10),
    overrides,
  });
}

type Row = Record<string, unknown>;

async function rates(contract_id: string, body: object = {}, limit?: number): Promise<Row[]> {
  const rows: Row[] = [];
  let next_page: string | undefined;
  do {
    const query = { ...(limit === undefined ? {} : { limit }), next_page };
    const page = await api.post(PATH, { customer_id: customer, contract_id, ...body }, { query });
    for (const row of page.list('data')) rows.push({ ...(row as object) });
    next_page = page.at('next_page') === null ? undefined : page.text('next_page');
  } while (next_page !== undefined);
  return rows;
}

function priceIn(row: Row | undefined, member: 'list_rate' | 'override_rate'): unknown {
  const rate = row?.[member];
  return typeof rate === 'object' && rate !== null && 'price' in rate ? rate.price : undefined;
}

const listPrices = (rows: readonly Row[]) => rows.map((row) => priceIn(row, 'list_rate'));
const overridePrices = (rows: readonly Row[]) => rows.map((row) => priceIn(row, 'override_rate'));

describe('the rate schedule of a contract', () => {
  test('the rate schedule of a contract without overrides is that of its card, entitled rates only, at present', async () => {
    const rows = await rates(await contract());
    expect(listPrices(rows)).toEqual([1, 2, 5, 7, 8]);
    expect(rows[0]).toEqual({
      rate_card_id: card,
      product_id: tokens,
      product_name: 'Tokens',
      product_tags: ['llm'],
      product_custom_fields: {},
      starting_at: day(1),
      entitled: true,
      pricing_group_values: { model: 'large', region: 'eu' },
      list_rate: {
        rate_type: 'FLAT',
        price: 1,
        pricing_group_values: { model: 'large', region: 'eu' },
        credit_type: expect.objectContaining({ name: 'USD (cents)' }),
      },
    });
    expect(rows[2]).toMatchObject({
      product_id: plain,
      starting_at: day(1),
      ending_before: day(12),
      commit_rate: { rate_type: 'FLAT', price: 4 },
    });
    expect(rows[3]).toMatchObject({ product_id: seats, billing_frequency: 'MONTHLY' });
  });

  test('the rate schedule of a contract shows what an override makes of a rate, and the time in which both stay as they are', async () => {
    const id = await contract(
      { starting_at: day(10), type: 'MULTIPLIER', multiplier: 0.5, applicable_product_tags: ['llm'] },
      {
        starting_at: day(11, 15),
        ending_before: day(11, 25),
        type: 'OVERWRITE',
        overwrite_rate: { rate_type: 'FLAT', price: 9, credit_type_id: unit },
        override_specifiers: [{ product_id: tokens, pricing_group_values: { model: 'large', region: 'us' } }],
      },
    );
    const rows = await rates(id);
    expect(overridePrices(rows)).toEqual([0.5, 9, undefined, undefined, undefined]);
    expect(rows[0]).toMatchObject({ starting_at: day(10) });
    expect(rows[0]).not.toHaveProperty('ending_before');
    expect(rows[1]).toMatchObject({
      starting_at: day(11, 15),
      ending_before: day(11, 25),
      list_rate: { price: 2 },
      override_rate: { price: 9, credit_type: { id: unit, name: 'Coins' } },
    });
    expect(rows[2]).not.toHaveProperty('override_rate');
    expect(overridePrices(await rates(id, { at: day(11, 25) }))[1]).toBe(1);
    expect(overridePrices(await rates(id, { at: day(9) }))).toEqual(Array(5).fill(undefined));
  });

  test('the rate schedule of a contract names the override that sets a price: of several multipliers the smallest', async () => {
    const during = { starting_at: day(10), product_id: plain };
    const id = await contract(
      { ...during, type: 'MULTIPLIER', multiplier: 0.95 },
      { ...during, type: 'MULTIPLIER', multiplier: 0.5 },
      { ...during, entitled: true },
    );
    const read = await api.post('/v2/contracts/get', { customer_id: customer, contract_id: id });
    const overrides = read.list('data.overrides') as { id: string; multiplier?: number }[];
    const half = overrides.find(({ multiplier }) => multiplier === 0.5);
    const [row] = await rates(id, { selectors: [{ product_id: plain }] });
    expect(row?.override_ids).toEqual([half?.id]);
    const [other] = await rates(id, { selectors: [{ product_id: tokens }] });
    expect(other).not.toHaveProperty('override_ids');
  });

  test('neighbouring overrides of one effect are one stretch of time', async () => {
    const half = { type: 'MULTIPLIER', multiplier: 0.5, product_id: plain };
    const id = await contract(
      { ...half, starting_at: day(11, 1), ending_before: day(11, 18) },
      { ...half, starting_at: day(11, 18), ending_before: day(11, 22) },
      { ...half, multiplier: 1, starting_at: day(11, 22), ending_before: day(11, 26) },
    );
    const selectors = [{ product_id: plain }];
    expect(await rates(id, { selectors })).toMatchObject([
      { starting_at: day(11, 1), ending_before: day(11, 22) },
    ]);
    expect(await rates(id, { selectors, at: day(11, 23) })).toMatchObject([
      { starting_at: day(11, 22), ending_before: day(11, 26), override_rate: { price: 5 } },
    ]);
    const [free] = await rates(id, { selectors, at: day(11, 27) });
    expect(free).toMatchObject({ starting_at: day(11, 26), ending_before: day(12) });
    expect(free).not.toHaveProperty('override_rate');
  });

  test('overrides entitle rates and take the entitlement away', async () => {
    const id = await contract(
      { starting_at: day(10), entitled: false, product_id: plain },
      {
        starting_at: day(11),
        entitled: true,
        override_specifiers: [{ product_id: tokens, pricing_group_values: { model: 'small' } }],
      },
    );
    const rows = await rates(id);
    expect(listPrices(rows)).toEqual([1, 2, 3, 7, 8]);
    expect(rows[2]).toMatchObject({ entitled: true, starting_at: day(11) });
    expect(listPrices(await rates(id, { at: day(10, 15) }))).toEqual([1, 2, 7, 8]);
    const everything = await contract({ starting_at: day(10), entitled: true });
    expect(listPrices(await rates(everything))).toEqual([1, 2, 3, 5, 7, 8]);
    const tagged = await contract({
      starting_at: day(10),
      entitled: true,
      override_specifiers: [{ product_tags: ['llm'] }],
    });
    expect(listPrices(await rates(tagged))).toEqual([1, 2, 3, 5, 7, 8]);
  });

  test('a rate that is entitled by a later addition shows from then on', async () => {
    const rate_card_id = await createdId(api, RATE_CARDS, { name: 'Entitled later' });
    const add = (starting_at: string, entitled: boolean) =>
      api.post(ADD_RATES, {
        rate_card_id,
        rates: [{ product_id: plain, starting_at, entitled, rate_type: 'FLAT', price: 1 }],
      });
    await add(day(1), false);
    const id = await createdId(api, CONTRACTS, {
      customer_id: customer,
      rate_card_id,
      starting_at: day(10),
    });
    expect(await rates(id)).toEqual([]);
    await add(day(11), true);
    expect(await rates(id)).toMatchObject([{ product_id: plain, starting_at: day(11), entitled: true }]);
    expect(await rates(id, { at: day(10) })).toEqual([]);
  });

  test('an override of one billing frequency leaves the others alone', async () => {
    const id = await contract({
      starting_at: day(10),
      type: 'MULTIPLIER',
      multiplier: 0,
      override_specifiers: [{ product_id: seats, billing_frequency: 'ANNUAL' }],
    });
    expect(overridePrices(await rates(id, { selectors: [{ product_id: seats }] }))).toEqual([undefined, 0]);
  });

  test('commit-specific overrides are not in it', async () => {
    const id = await contract({
      starting_at: day(10),
      type: 'MULTIPLIER',
      multiplier: 0.1,
      is_commit_specific: true,
      product_id: plain,
    });
    expect(overridePrices(await rates(id))).toEqual(Array(5).fill(undefined));
  });

  test('an edit shows at once', async () => {
    const id = await contract();
    const [override] = [{ starting_at: day(10), type: 'MULTIPLIER', multiplier: 2, product_id: plain }];
    const reference = { customer_id: customer, contract_id: id };
    const added = await api.post('/v2/contracts/edit', { ...reference, add_overrides: [override] });
    expect(overridePrices(await rates(id))[2]).toBe(10);
    const remove_overrides = [{ id: added.text('data.edit.add_overrides[0].id') }];
    await api.post('/v2/contracts/edit', { ...reference, remove_overrides });
    expect(overridePrices(await rates(id))[2]).toBeUndefined();
  });
});

describe('selectors', () => {
  test.each<[string, () => object[], number[]]>([
    ['none: everything', () => [], [1, 2, 5, 7, 8]],
    ['a product', () => [{ product_id: plain }], [5]],
    ['tags: any of them', () => [{ product_tags: ['cheap', 'llm'] }], [1, 2, 5]],
    ['equal group values', () => [{ pricing_group_values: { region: 'us', model: 'large' } }], [2]],
    ['group values: some are not all', () => [{ pricing_group_values: { model: 'large' } }], []],
    ['contained group values', () => [{ partial_pricing_group_values: { model: 'large' } }], [1, 2]],
    ['a billing frequency', () => [{ billing_frequency: 'ANNUAL' }], [8]],
    [
      'conditions of one are ANDed',
      () => [{ product_id: tokens, partial_pricing_group_values: { region: 'eu' } }],
      [1],
    ],
    ['several are ORed', () => [{ product_id: plain }, { billing_frequency: 'MONTHLY' }], [5, 7]],
  ])('%s', async (_, selectors, expected) => {
    expect(listPrices(await rates(await contract(), { selectors: selectors() }))).toEqual(expected);
  });
});

describe('group values that only an override names', () => {
  const NAMED = { starting_at: day(11), ending_before: day(12) };
  let contractId: string;

  beforeAll(async () => {
    const withDefault = await createdId(api, RATE_CARDS, { name: 'With a rate for all others' });
    const rate = { product_id: tokens, entitled: true, rate_type: 'FLAT' };
    await api.post(ADD_RATES, {
      rate_card_id: withDefault,
      rates: [
        { ...rate, starting_at: day(1), price: 10 },
        {
          ...rate,
          starting_at: day(11, 25),
          price: 20,
          pricing_group_values: { model: 'new', region: 'eu' },
        },
        { ...rate, starting_at: day(1), price: 30, pricing_group_values: { model: 'own', region: 'eu' } },
      ],
    });
    const specifiers = (...values: object[]) =>
      values.map((pricing_group_values) => ({ product_id: tokens, pricing_group_values }));
    contractId = await createdId(api, CONTRACTS, {
      customer_id: customer,
      rate_card_id: withDefault,
      starting_at: day(10),
      overrides: [
        {
          ...NAMED,
          type: 'MULTIPLIER',
          multiplier: 0.5,
          override_specifiers: specifiers(
            { model: 'new', region: 'eu' },
            { model: 'own', region: 'eu' },
            { region: 'us' },
          ),
        },
        {
          starting_at: day(12),
          type: 'MULTIPLIER',
          multiplier: 0.1,
          override_specifiers: specifiers({ model: 'late' }),
        },
      ],
    });
  });

  const shown = (rows: readonly Row[]) =>
    rows.map((row) => [row.pricing_group_values, priceIn(row, 'list_rate'), priceIn(row, 'override_rate')]);
  const others = [undefined, 10, undefined];
  const fresh = [{ model: 'new', region: 'eu' }, 10, 5];
  const us = [{ region: 'us' }, 10, 5];
  const own = [{ model: 'own', region: 'eu' }, 30, 15];

  test('group values that only an override names are rows after the rate for all others, which end where the card has a rate for them', async () => {
    const rows = await rates(contractId);
    expect(shown(rows)).toEqual([others, fresh, us, own]);
    expect(rows[1]).toMatchObject({ starting_at: day(11), ending_before: day(11, 25) });
    expect(rows[2]).toMatchObject({ starting_at: day(11), ending_before: day(12) });
  });

  test('group values that only an override names are the card’s own row once that has a rate for them', async () => {
    const rows = await rates(contractId, { at: day(11, 26) });
    expect(shown(rows)).toEqual([others, us, [{ model: 'new', region: 'eu' }, 20, 10], own]);
  });

  test('group values that only an override names come in pages of any size', async () => {
    for (const limit of [1, 2, 3])
      expect(shown(await rates(contractId, {}, limit))).toEqual([others, fresh, us, own]);
  });

  test.each<[string, object, unknown[]]>([
    ['exact values', { pricing_group_values: { model: 'new', region: 'eu' } }, [fresh]],
    ['some of the values', { partial_pricing_group_values: { region: 'eu' } }, [fresh, own]],
    ['no values', { pricing_group_values: {} }, [others]],
    ['another model', { pricing_group_values: { model: 'other', region: 'eu' } }, []],
  ])('group values that only an override names are selected by %s', async (_, selector, expected) => {
    expect(shown(await rates(contractId, { selectors: [selector] }))).toEqual(expected);
  });
});

describe('an OVERWRITE without a rate on the card', () => {
  const medium = { model: 'medium', region: 'eu' };
  const fixed = (price: number, values: object, fields: object = {}) => ({
    starting_at: day(10),
    type: 'OVERWRITE',
    overwrite_rate: { rate_type: 'FLAT', price },
    override_specifiers: [{ product_id: tokens, pricing_group_values: values }],
    ...fields,
  });

  test('an OVERWRITE without a rate on the card is a separate row after those of the card, whose list rate repeats its price', async () => {
    const rows = await rates(await contract(fixed(9, medium, { ending_before: day(12) })));
    expect(listPrices(rows)).toEqual([1, 2, 5, 7, 8, 9]);
    const rate = {
      rate_type: 'FLAT',
      price: 9,
      pricing_group_values: medium,
      credit_type: expect.objectContaining({ name: 'USD (cents)' }),
    };
    expect(rows.at(-1)).toEqual({
      rate_card_id: card,
      product_id: tokens,
      product_name: 'Tokens',
      product_tags: ['llm'],
      product_custom_fields: {},
      starting_at: day(10),
      ending_before: day(12),
      entitled: true,
      pricing_group_values: medium,
      list_rate: rate,
      override_ids: [expect.any(String)],
      override_rate: rate,
    });
  });

  test('an OVERWRITE without a rate on the card is no row before it starts, where the contract excludes it, and for a price on the card', async () => {
    const later = fixed(9, medium, { starting_at: day(12) });
    const excluded = { ...fixed(9, medium), entitled: false };
    const onCard = fixed(9, { model: 'large', region: 'eu' });
    for (const [override, prices] of [
      [later, [1, 2, 5, 7, 8]],
      [excluded, [1, 2, 5, 7, 8]],
      [onCard, [1, 2, 5, 7, 8]],
    ] as const) {
      expect(listPrices(await rates(await contract(override)))).toEqual(prices);
    }
  });

  test('an OVERWRITE without a rate on the card comes before the rates of a card that start later, for a product without group values too', async () => {
    const fresh = await createdId(api, RATE_CARDS, { name: 'Later' });
    const rate = { starting_at: day(12), entitled: true, rate_type: 'FLAT', price: 3 };
    await api.post(ADD_RATES, { rate_card_id: fresh, rates: [{ ...rate, product_id: plain }] });
    const id = await createdId(api, CONTRACTS, {
      customer_id: customer,
      rate_card_id: fresh,
      starting_at: day(10),
      overrides: [
        { starting_at: day(10), product_id: plain, overwrite_rate: { rate_type: 'FLAT', price: 9 } },
      ],
    });
    const [row, ...others] = await rates(id);
    expect(row).toMatchObject({ product_id: plain, starting_at: day(10), ending_before: day(12) });
    expect(others).toEqual([]);
  });

  test.each([1, 2, 3, 4, 7, 8, 9, 100])(
    'an OVERWRITE without a rate on the card is listed once in pages of %i',
    async (limit) => {
      const many = Array.from({ length: 5 }, (_, index) =>
        fixed(20 + index, { model: `model-${index}`, region: index === 4 ? 'long '.repeat(100) : 'eu' }),
      );
      const id = await contract(...many, fixed(10, { model: 'large', region: 'eu' }));
      const rows = await rates(id, {}, limit);
      expect(overridePrices(rows).toSorted()).toEqual([
        10,
        20,
        21,
        22,
        23,
        24,
        undefined,
        undefined,
        undefined,
        undefined,
      ]);
      expect(rows).toEqual(await rates(id));
    },
  );

  test('an OVERWRITE without a rate on the card is found by selectors of its product and values', async () => {
    const id = await contract(fixed(9, medium));
    const selected = (selector: object) => rates(id, { selectors: [selector] });
    expect(listPrices(await selected({ product_id: tokens, pricing_group_values: medium }))).toEqual([9]);
    expect(listPrices(await selected({ partial_pricing_group_values: { model: 'medium' } }))).toEqual([9]);
    expect(listPrices(await selected({ product_id: plain }))).toEqual([5]);
  });
});

describe('pages', () => {
  test('pages of the rate schedule hold every row once also where the values that an override names are long', async () => {
    const long = '長'.repeat(5_000);
    const models = ['short', 'x'.repeat(5_000), `${long}a`, `${long}b`, '"'.repeat(200), `${long}c`];
    const card = await createdId(api, RATE_CARDS, { name: 'Long values' });
    const rate = { product_id: tokens, entitled: true, rate_type: 'FLAT', starting_at: day(1), price: 10 };
    await api.post(ADD_RATES, { rate_card_id: card, rates: [rate] });
    const id = await createdId(api, CONTRACTS, {
      customer_id: customer,
      rate_card_id: card,
      starting_at: day(10),
      overrides: models.map((model, index) => ({
        starting_at: day(10),
        type: 'MULTIPLIER',
        multiplier: index + 2,
        override_specifiers: [{ product_id: tokens, pricing_group_values: { model } }],
      })),
    });
    const whole = await rates(id);
    const prices = overridePrices(whole);
    expect(prices.toSorted()).toEqual([20, 30, 40, 50, 60, 70, undefined]);
    for (const limit of [1, 2, 5]) expect(await rates(id, {}, limit)).toEqual(whole);
    const body = { customer_id: customer, contract_id: id };
    for (const limit of [1, 2, 3, 4, 5, 6]) {
      const page = await api.post(PATH, body, { query: { limit } });
      expect(page.text('next_page').length).toBeLessThan(700);
    }
  });

  test('pages of the rate schedule of any size hold every rate once, the last has no cursor', async () => {
    const id = await contract({ starting_at: day(10), entitled: false, product_id: plain });
    const whole = await rates(id);
    expect(whole).toHaveLength(4);
    for (const limit of [1, 2, 3, 4, 100]) expect(await rates(id, {}, limit)).toEqual(whole);
    const body = { customer_id: customer, contract_id: id };
    expect((await api.post(PATH, body, { query: { limit: 4 } })).at('next_page')).toBeNull();
  });

  test('a limit outside 1 to 100 and a broken cursor are refused', async () => {
    const body = { customer_id: customer, contract_id: await contract() };
    for (const query of [{ limit: 0 }, { limit: 101 }, { next_page: 'broken' }]) {
      expect((await api.send('POST', PATH, body, { query })).status).toBe(400);
    }
  });
});

describe('which contract', () => {
  test('one without a rate card has no rates', async () => {
    const bare = { customer_id: customer, starting_at: day(10) };
    expect(await rates(await createdId(api, CONTRACTS, bare))).toEqual([]);
  });

  test('an unknown one, and one of another customer, are not found', async () => {
    const other = await createdId(api, '/v1/customers', { name: 'Other' });
    for (const body of [
      { customer_id: customer, contract_id: UNKNOWN },
      { customer_id: other, contract_id: await contract() },
    ]) {
      const answer = await api.send('POST', PATH, body);
      expect(answer.status).toBe(404);
      expect(answer.at('code')).toBe('ContractNotFound');
    }
  });
});
