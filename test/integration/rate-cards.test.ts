import { beforeAll, describe, expect, test } from 'vitest';
import { stringifyJson } from '../../src/api/base/json.ts';
import { FIAT_CREDIT_TYPES, USD_CENTS } from '../../src/core/credit-types.ts';
import { rateCardProducts, rateCards, rates } from '../../src/store/rate-cards/rate-cards.tables.ts';
import { rateCardProductOrder } from '../../src/store/rate-cards/rate-cards.ts';
import { loadRateEntries } from '../../src/store/rate-cards/rates.ts';
import {
  ACTOR_NAME,
  ADD_RATE,
  ADD_RATES,
  createdId,
  METRICS,
  PRODUCTS,
  RATE_CARDS,
  TOKENS_METRIC,
} from '../support/catalogue-api.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';

const { pool, api } = await catalogueForFile();
let plain: string;
let dimensional: string;
let subscription: string;

beforeAll(async () => {
  const metric = await createdId(api, METRICS, TOKENS_METRIC);
  plain = await createdId(api, PRODUCTS, { name: 'Plain', type: 'USAGE', billable_metric_id: metric });
  dimensional = await createdId(api, PRODUCTS, {
    name: 'Dimensional',
    type: 'USAGE',
    billable_metric_id: metric,
    pricing_group_key: ['model', 'region'],
  });
  subscription = await createdId(api, PRODUCTS, { name: 'Seat', type: 'SUBSCRIPTION' });
});

const GET = '/v1/contract-pricing/rate-cards/get';
const LIST = '/v1/contract-pricing/rate-cards/list';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const EUR = FIAT_CREDIT_TYPES.find((unit) => unit.name === 'EUR')?.id ?? '';

function newCard(): Promise<string> {
  return createdId(api, RATE_CARDS, { name: 'Card' });
}

const flat = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 1.5 };

describe('rate cards', () => {
  test('a rate card is returned as it was sent', async () => {
    const id = await createdId(api, RATE_CARDS, {
      name: 'Public',
      description: 'List prices',
      fiat_credit_type_id: EUR,
      aliases: [{ name: 'public-eur', starting_at: '2026-01-01T00:00:00Z' }],
    });
    expect((await api.post(GET, { id })).at('data')).toEqual({
      id,
      name: 'Public',
      description: 'List prices',
      fiat_credit_type: { id: EUR, name: 'EUR' },
      credit_type_conversions: [],
      aliases: [{ name: 'public-eur', starting_at: '2026-01-01T00:00:00.000Z' }],
      created_at: '2026-11-20T12:34:56.789Z',
      created_by: ACTOR_NAME,
      custom_fields: {},
    });
  });

  test('the currency is US cents unless given', async () => {
    const card = await api.post(GET, { id: await newCard() });
    expect(card.at('data.fiat_credit_type')).toEqual(USD_CENTS);
  });

  test('an alias given to another card shows on the first one until the takeover', async () => {
    const first = await createdId(api, RATE_CARDS, { name: 'Old', aliases: [{ name: 'list' }] });
    const second = await createdId(api, RATE_CARDS, {
      name: 'New',
      aliases: [{ name: 'list', starting_at: '2027-01-01T00:00:00Z' }],
    });
    expect((await api.post(GET, { id: first })).at('data.aliases')).toEqual([
      { name: 'list', ending_before: '2027-01-01T00:00:00.000Z' },
    ]);
    expect((await api.post(GET, { id: second })).at('data.aliases')).toEqual([
      { name: 'list', starting_at: '2027-01-01T00:00:00.000Z' },
    ]);
  });

  test.each([
    ['no name', { name: undefined }, /^name: /],
    ['a unit that is no currency', { fiat_credit_type_id: UNKNOWN }, /^fiat_credit_type_id: /],
    [
      'a conversion of an unknown unit',
      { credit_type_conversions: [{ custom_credit_type_id: UNKNOWN, fiat_per_custom_credit: 1 }] },
      /^credit_type_conversions\[0\]\.custom_credit_type_id: /,
    ],
    [
      'an alias that ends before it starts',
      {
        aliases: [{ name: 'x', starting_at: '2026-02-01T00:00:00Z', ending_before: '2026-01-01T00:00:00Z' }],
      },
      /^aliases\[0\]\.ending_before: /,
    ],
    ['an undeclared custom field', { custom_fields: { region: 'eu' } }, /^custom_fields\.region: /],
  ])('%s answers 400, names the field and stores nothing', async (_, change, message) => {
    const before = await pool.db.$count(rateCards);
    const answer = await api.send('POST', RATE_CARDS, { name: 'Bad', ...change });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
    expect(await pool.db.$count(rateCards)).toBe(before);
  });

  test('an unknown id answers 404, and the list takes a request without a body', async () => {
    expect((await api.send('POST', GET, { id: UNKNOWN })).status).toBe(404);
    const listed = await api.send('POST', LIST, undefined, { rawBody: '', query: { limit: 1 } });
    expect(listed.status).toBe(200);
    expect(listed.list('data')).toHaveLength(1);
  });
});

describe('adding a rate', () => {
  test('a flat rate is echoed and stored with every digit of its price', async () => {
    const card = await newCard();
    const body = { ...flat, rate_card_id: card, product_id: plain, price: 'PRICE' };
    const answer = await api.post(ADD_RATE, undefined, {
      rawBody: JSON.stringify(body).replace('"PRICE"', '0.000000123456789012345'),
    });
    expect(answer.digits('data.price')).toBe('0.000000123456789012345');
    expect(answer.at('data')).toMatchObject({ rate_type: 'FLAT', credit_type: USD_CENTS });
    const [entry] = (await loadRateEntries(pool.db, [card])).get(card) ?? [];
    expect(stringifyJson(entry?.rate)).toBe('{"rateType":"FLAT","price":0.000000123456789012345}');
    expect(entry).toMatchObject({
      productId: plain,
      pricingGroupValues: {},
      entitled: true,
      endingBefore: null,
    });
  });

  test('a tiered rate with a commit rate is echoed and stored', async () => {
    const card = await newCard();
    const tiers = [{ size: 1000, price: 0.5 }, { price: 0.25 }];
    const answer = await api.post(ADD_RATE, {
      rate_card_id: card,
      product_id: dimensional,
      pricing_group_values: { model: 'large', region: 'eu' },
      starting_at: '2026-01-01T00:00:00Z',
      ending_before: '2026-02-01T00:00:00Z',
      entitled: false,
      rate_type: 'tiered',
      tiers,
      commit_rate: { rate_type: 'FLAT', price: 0.1 },
    });
    expect(answer.at('data')).toEqual({
      rate_type: 'TIERED',
      tiers,
      pricing_group_values: { model: 'large', region: 'eu' },
      credit_type: USD_CENTS,
      commit_rate: { rate_type: 'FLAT', price: 0.1 },
    });
    const [entry] = (await loadRateEntries(pool.db, [card])).get(card) ?? [];
    expect(entry?.entitled).toBe(false);
    expect(entry?.endingBefore).toBe(Date.UTC(2026, 1, 1));
    expect(stringifyJson(entry?.rate)).toBe(
      '{"rateType":"TIERED","tiers":[{"size":1000,"price":0.5},{"size":null,"price":0.25}]}',
    );
    expect(stringifyJson(entry?.commitRate)).toBe('{"rateType":"FLAT","price":0.1}');
  });

  test('a dimensional product takes a rate without group values as its default', async () => {
    const card = await newCard();
    await api.post(ADD_RATE, { ...flat, rate_card_id: card, product_id: dimensional });
    await api.post(ADD_RATE, {
      ...flat,
      rate_card_id: card,
      product_id: subscription,
      billing_frequency: 'monthly',
    });
    const entries = (await loadRateEntries(pool.db, [card])).get(card) ?? [];
    expect(entries.map((entry) => entry.billingFrequency)).toEqual([null, 'MONTHLY']);
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['no starting_at', { starting_at: undefined }, /^starting_at: /],
    ['a start off the hour', { starting_at: '2026-01-01T00:30:00Z' }, /^starting_at: /],
    ['an end at its start', { ending_before: '2026-01-01T00:00:00Z' }, /^ending_before: /],
    ['no entitled', { entitled: undefined }, /^entitled: /],
    ['no price', { price: undefined }, /^price: /],
    ['a negative price', { price: -1 }, /^price: /],
    ['a price as text', { price: '1' }, /^price: /],
    ['tiers on a flat rate', { tiers: [{ price: 1 }] }, /^tiers: /],
    ['a tiered rate without tiers', { rate_type: 'TIERED', price: undefined }, /^tiers: /],
    ['no tiers', { rate_type: 'TIERED', price: undefined, tiers: [] }, /^tiers: /],
    [
      'a bounded last tier',
      { rate_type: 'TIERED', price: undefined, tiers: [{ size: 5, price: 1 }] },
      /^tiers\[0\]\.size: /,
    ],
    [
      'an unbounded tier in the middle',
      { rate_type: 'TIERED', price: undefined, tiers: [{ price: 1 }, { price: 2 }] },
      /^tiers\[0\]\.size: /,
    ],
    [
      'group values without a pricing key',
      { pricing_group_values: { model: 'x' } },
      /^pricing_group_values: /,
    ],
    ['a billing frequency on usage', { billing_frequency: 'MONTHLY' }, /^billing_frequency: /],
    ['a custom rate', { rate_type: 'CUSTOM' }, /^rate_type: /],
    ['a percentage', { rate_type: 'PERCENTAGE', price: 0.5 }, /^rate_type: must be FLAT or TIERED/],
    ['a minimum', { minimum_config: { minimum: 5 } }, /^minimum_config: /],
    ['a bad commit rate', { commit_rate: { rate_type: 'FLAT' } }, /^commit_rate\.price: /],
    ['another currency than the card’s', { credit_type_id: EUR }, /^credit_type_id: /],
    ['an unknown unit', { credit_type_id: UNKNOWN }, /^credit_type_id: /],
  ])('%s answers 400, names the field and stores nothing', async (_, change, message) => {
    const card = await newCard();
    const answer = await api.send('POST', ADD_RATE, {
      ...flat,
      rate_card_id: card,
      product_id: plain,
      ...change,
    });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
    expect(await loadRateEntries(pool.db, [card])).toEqual(new Map());
    expect(await rateCardProductOrder(pool.db, [card])).toEqual(new Map());
  });

  test.each([
    [{ model: 'large' }],
    [{ model: 'large', region: 'eu', zone: 'a' }],
    [{ model: 'large', zone: 'a' }],
  ])('pricing group values %j of a product priced by model and region answer 400', async (values) => {
    const answer = await api.send('POST', ADD_RATE, {
      ...flat,
      rate_card_id: await newCard(),
      product_id: dimensional,
      pricing_group_values: values,
    });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(/^pricing_group_values: .*model, region/);
  });

  test('a subscription product needs a billing frequency, a fixed product has no rates', async () => {
    const card = await newCard();
    const fixed = await createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' });
    for (const [product_id, message] of [
      [subscription, /^billing_frequency: /],
      [fixed, /^product_id: /],
    ] as const) {
      const answer = await api.send('POST', ADD_RATE, { ...flat, rate_card_id: card, product_id });
      expect(answer.status).toBe(400);
      expect(answer.text('message')).toMatch(message);
    }
  });

  test('an unknown card or product answers 404', async () => {
    const card = await newCard();
    for (const ids of [
      { rate_card_id: UNKNOWN, product_id: plain },
      { rate_card_id: card, product_id: UNKNOWN },
    ]) {
      expect((await api.send('POST', ADD_RATE, { ...flat, ...ids })).status).toBe(404);
    }
  });

  test('a card in another currency takes rates in that currency only', async () => {
    const card = await createdId(api, RATE_CARDS, { name: 'Euro', fiat_credit_type_id: EUR });
    const body = { ...flat, rate_card_id: card, product_id: plain };
    const answer = await api.send('POST', ADD_RATE, body);
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(/^credit_type_id: .*EUR/);
    const added = await api.post(ADD_RATE, { ...body, credit_type_id: EUR });
    expect(added.at('data.credit_type')).toEqual({ id: EUR, name: 'EUR' });
  });
});

describe('adding many rates', () => {
  test('3,000 rates go in with one call and keep their order', async () => {
    const card = await newCard();
    const many = Array.from({ length: 3_000 }, (_, index) => ({
      ...flat,
      product_id: dimensional,
      pricing_group_values: { model: `model-${index}`, region: 'eu' },
      price: index,
    }));
    expect((await api.post(ADD_RATES, { rate_card_id: card, rates: many })).text('data.id')).toBe(card);
    const entries = (await loadRateEntries(pool.db, [card])).get(card) ?? [];
    expect(entries).toHaveLength(3_000);
    expect(entries.map((entry) => entry.pricingGroupValues.model)).toEqual(
      many.map((rate) => rate.pricing_group_values.model),
    );
  });

  test('one bad rate stores none and is named', async () => {
    const card = await newCard();
    const before = await pool.db.$count(rates);
    const good = { ...flat, product_id: plain };
    const answer = await api.send('POST', ADD_RATES, {
      rate_card_id: card,
      rates: [
        good,
        good,
        { ...good, rate_type: 'TIERED', price: undefined, tiers: [{ size: -1, price: 1 }, { price: 1 }] },
      ],
    });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(/^rates\[2\]\.tiers\[0\]\.size: /);
    expect(await pool.db.$count(rates)).toBe(before);
    const unknown = await api.send('POST', ADD_RATES, {
      rate_card_id: card,
      rates: [good, { ...good, product_id: UNKNOWN }],
    });
    expect(unknown.status).toBe(404);
    expect(unknown.text('message')).toMatch(/^rates\[1\]\.product_id: /);
    expect(await pool.db.$count(rates)).toBe(before);
  });

  test('products are ordered as they first came onto the card, also when calls race', async () => {
    const card = await newCard();
    const add = (ids: string[]) =>
      api.post(ADD_RATES, { rate_card_id: card, rates: ids.map((product_id) => ({ ...flat, product_id })) });
    await add([dimensional]);
    await Promise.all([add([plain, dimensional]), add([dimensional, plain]), add([plain])]);
    expect((await rateCardProductOrder(pool.db, [card])).get(card)).toEqual([dimensional, plain]);
    expect((await loadRateEntries(pool.db, [card], [plain])).get(card)).toHaveLength(3);
    const rows = await pool.db.select().from(rateCardProducts);
    expect(rows.filter((row) => row.rateCardId === card)).toHaveLength(2);
  });
});
