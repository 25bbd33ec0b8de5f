/** Every type of rate: it is returned as it was sent, and an unsound one is refused by its field. */
import { beforeAll, describe, expect, test } from 'vitest';
import { FIAT_CREDIT_TYPES, USD_CENTS } from '../../src/core/credit-types.ts';
import { rateCardProducts, rates } from '../../src/store/rate-cards/rate-cards.tables.ts';
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
import { catalogueForFile } from '../support/file-fixtures.ts';

const { pool, api } = await catalogueForFile();
const products: Record<string, string> = {};
let credits: string;
let unconverted: string;

beforeAll(async () => {
  const billable_metric_id = await createdId(api, METRICS, TOKENS_METRIC);
  products.usage = await createdId(api, PRODUCTS, { name: 'Usage', type: 'USAGE', billable_metric_id });
  products.seat = await createdId(api, PRODUCTS, { name: 'Seat', type: 'SUBSCRIPTION' });
  products.support = await createdId(api, PRODUCTS, {
    name: 'Support',
    type: 'COMPOSITE',
    composite_product_ids: [products.usage],
  });
  products.fee = await createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' });
  products.hours = await createdId(api, PRODUCTS, { name: 'Hours', type: 'PROFESSIONAL_SERVICE' });
  credits = await createdId(api, '/v1/credit-types/create', { name: 'Credits' });
  unconverted = await createdId(api, '/v1/credit-types/create', { name: 'Unconverted' });
});

const GET_RATES = '/v1/contract-pricing/rate-cards/getRates';
const EUR = FIAT_CREDIT_TYPES.find((unit) => unit.name === 'EUR')?.id ?? '';
const entry = { starting_at: '2026-01-01T00:00:00Z', entitled: true };

const newCard = () =>
  createdId(api, RATE_CARDS, {
    name: 'Card',
    credit_type_conversions: [{ custom_credit_type_id: credits, fiat_per_custom_credit: 2 }],
  });

const usd = { credit_type: USD_CENTS };
const tiers = [{ size: 100, price: 0.25 }, { price: 0.125 }];

describe('a rate is returned as it was sent', () => {
  test.each<[string, string, object, object]>([
    ['FLAT', 'usage', { price: 1.5 }, usd],
    ['FLAT at no price', 'usage', { rate_type: 'FLAT', price: 0 }, usd],
    ['TIERED', 'usage', { tiers }, usd],
    ['TIERED for volumes', 'usage', { tiers, tiers_mode: 'volume' }, usd],
    ['FLAT of a subscription', 'seat', { rate_type: 'flat', price: 4000, billing_frequency: 'annual' }, usd],
    [
      'SUBSCRIPTION',
      'seat',
      { price: 4000, quantity: 3, is_prorated: true, billing_frequency: 'WEEKLY' },
      usd,
    ],
    ['SUBSCRIPTION with nothing more', 'seat', { price: 4000, billing_frequency: 'QUARTERLY' }, usd],
    ['PERCENTAGE', 'support', { price: 0.05 }, {}],
    ['PERCENTAGE above one', 'support', { price: 1.5, minimum_config: { minimum: 10000 } }, {}],
    ['TIERED_PERCENTAGE', 'support', { tiers, minimum_config: { minimum: 0 } }, {}],
    ['TIERED_PERCENTAGE for volumes', 'support', { tiers, tiers_mode: 'volume' }, {}],
  ])('%s', async (name, product, price, unit) => {
    const rate_type = name.split(' ')[0] ?? '';
    const rate_card_id = await newCard();
    const product_id = products[product];
    const { billing_frequency, ...sent }: Record<string, unknown> = { rate_type, ...price };
    const body = { ...entry, ...sent, rate_card_id, product_id, billing_frequency };
    const expected = { ...sent, rate_type: String(sent.rate_type).toUpperCase(), ...unit };
    expect((await api.post(ADD_RATE, body)).at('data')).toEqual(expected);
    const read = await api.post(GET_RATES, { rate_card_id, at: '2026-02-01T00:00:00Z' });
    expect(read.at('data')).toEqual([
      {
        product_id,
        product_name: expect.any(String),
        product_tags: [],
        product_custom_fields: {},
        starting_at: '2026-01-01T00:00:00.000Z',
        entitled: true,
        rate: expected,
        ...(billing_frequency === undefined
          ? {}
          : { billing_frequency: String(billing_frequency).toUpperCase() }),
      },
    ]);
  });

  test('a rate is returned as it was sent with every digit, also in tiers, commit rates and minimums', async () => {
    const rate_card_id = await newCard();
    const exact = '0.123456789012345678901';
    const post = (body: object) =>
      api.post(ADD_RATE, undefined, {
        rawBody: JSON.stringify({ ...entry, rate_card_id, ...body }).replaceAll('"EXACT"', exact),
      });
    await post({
      product_id: products.usage,
      rate_type: 'TIERED',
      tiers: [{ size: 'EXACT', price: 'EXACT' }, { price: 1 }],
      commit_rate: { rate_type: 'FLAT', price: 'EXACT' },
    });
    await post({
      product_id: products.support,
      rate_type: 'PERCENTAGE',
      price: 'EXACT',
      minimum_config: { minimum: 'EXACT' },
    });
    const read = await api.post(GET_RATES, { rate_card_id, at: '2026-02-01T00:00:00Z' });
    for (const path of [
      'data[0].rate.tiers[0].size',
      'data[0].rate.tiers[0].price',
      'data[0].commit_rate.price',
      'data[1].rate.price',
      'data[1].rate.minimum_config.minimum',
    ]) {
      expect(read.digits(path)).toBe(exact);
    }
  });

  test('a rate is returned as it was sent in a custom unit that the card converts, with a tiered commit rate in the same unit', async () => {
    const body = {
      ...entry,
      rate_card_id: await newCard(),
      product_id: products.usage,
      rate_type: 'FLAT',
      price: 3,
      credit_type_id: credits,
      commit_rate: { rate_type: 'TIERED', tiers, tiers_mode: 'volume' },
    };
    expect((await api.post(ADD_RATE, body)).at('data')).toEqual({
      rate_type: 'FLAT',
      price: 3,
      credit_type: { id: credits, name: 'Credits' },
      commit_rate: { rate_type: 'TIERED', tiers, tiers_mode: 'volume' },
    });
  });
});

test('overrides of contracts and packages return the mode of their tiers, and it is refused without tiers', async () => {
  const rate_card_id = await newCard();
  await api.post(ADD_RATE, {
    ...entry,
    rate_card_id,
    product_id: products.usage,
    rate_type: 'FLAT',
    price: 1,
  });
  const customer_id = await createdId(api, '/v1/customers', { name: 'Volume' });
  const starting_at = '2026-01-01T00:00:00Z';
  const overwrite_rate = { rate_type: 'TIERED', tiers, tiers_mode: 'volume' };
  const multipliers = [{ size: 5, multiplier: 0.5 }, { multiplier: 0.25 }];
  const override_specifiers = [{ product_id: products.usage }];
  const terms = [
    { type: 'OVERWRITE', overwrite_rate, override_specifiers },
    { type: 'TIERED', priority: 1, tiers: multipliers, tiers_mode: 'volume', override_specifiers },
  ];
  const contract = { customer_id, rate_card_id, starting_at, multiplier_override_prioritization: 'EXPLICIT' };
  const contract_id = await createdId(api, CONTRACTS, {
    ...contract,
    overrides: terms.map((one) => ({ ...one, starting_at })),
  });
  const read = await api.post('/v2/contracts/get', { customer_id, contract_id });
  const expected = [{ overwrite_rate }, { override_tiers: multipliers, tiers_mode: 'volume' }];
  expect(read.at('data.overrides')).toMatchObject(expected);
  const package_id = await createdId(api, '/v1/packages/create', {
    ...{ name: 'Volume', rate_card_id, multiplier_override_prioritization: 'EXPLICIT' },
    overrides: terms.map((one) => ({ ...one, starting_at_offset: { unit: 'MONTHS', value: 0 } })),
  });
  const kept = await api.post('/v1/packages/get', { package_id });
  expect(kept.at('data.overrides')).toMatchObject(expected);
  const answer = await api.send('POST', CONTRACTS, {
    ...contract,
    overrides: [{ starting_at, type: 'MULTIPLIER', priority: 1, multiplier: 0.5, tiers_mode: 'volume' }],
  });
  expect([answer.status, answer.text('message')]).toEqual([
    400,
    'overrides[0].tiers_mode: is for TIERED overrides, not for MULTIPLIER',
  ]);
});

describe('a rate is refused with 400 that names the field, and nothing is stored', () => {
  const flat = { rate_type: 'FLAT', price: 1 };
  const percentage = { rate_type: 'PERCENTAGE', price: 0.1 };
  const seat = { rate_type: 'FLAT', price: 1, billing_frequency: 'MONTHLY' };

  test.each<[string, string, object, RegExp]>([
    [
      'a mode of tiers without tiers',
      'usage',
      { ...flat, tiers_mode: 'volume' },
      /^tiers_mode: is for TIERED and/,
    ],
    [
      'an unknown mode of tiers',
      'usage',
      { rate_type: 'TIERED', tiers, tiers_mode: 'bulk' },
      /^tiers_mode: /,
    ],
    ['CUSTOM', 'usage', { rate_type: 'CUSTOM', custom_rate: {} }, /^rate_type: CUSTOM/],
    ['CUSTOM', 'usage', { rate_type: 'CUSTOM' }, /^rate_type: CUSTOM/],
    ['CUSTOM', 'support', { rate_type: 'custom', price: 1 }, /^rate_type: CUSTOM/],
    ['an unknown type', 'usage', { rate_type: 'VOLUME', price: 1 }, /^rate_type: /],
    ['a percentage of usage', 'usage', percentage, /^rate_type: must be FLAT or TIERED for USAGE/],
    ['a subscription rate for usage', 'usage', { ...flat, rate_type: 'SUBSCRIPTION' }, /^rate_type: /],
    ['a flat composite', 'support', flat, /^rate_type: must be PERCENTAGE or TIERED_PERCENTAGE/],
    ['a tiered subscription', 'seat', { ...seat, rate_type: 'TIERED', tiers }, /^rate_type: /],
    ['a fixed product', 'fee', flat, /^product_id: FIXED/],
    ['a professional service', 'hours', flat, /^product_id: PROFESSIONAL_SERVICE/],
    ['no frequency', 'seat', flat, /^billing_frequency: is required/],
    ['no frequency', 'seat', { ...flat, rate_type: 'SUBSCRIPTION' }, /^billing_frequency: is required/],
    ['an unknown frequency', 'seat', { ...flat, billing_frequency: 'DAILY' }, /^billing_frequency: /],
    ['a frequency of usage', 'usage', seat, /^billing_frequency: is for SUBSCRIPTION/],
    [
      'a frequency of a composite',
      'support',
      { ...percentage, billing_frequency: 'WEEKLY' },
      /^billing_freq/,
    ],
    ['a percentage without a fraction', 'support', { rate_type: 'PERCENTAGE' }, /^price: is required/],
    ['a negative fraction', 'support', { ...percentage, price: -0.1 }, /^price: /],
    ['tiers beside a fraction', 'support', { ...percentage, tiers }, /^tiers: /],
    ['no tiers', 'support', { rate_type: 'TIERED_PERCENTAGE', price: 1 }, /^price: is for /],
    ['no tiers', 'support', { rate_type: 'TIERED_PERCENTAGE' }, /^tiers: is required/],
    [
      'a tier without units',
      'support',
      { rate_type: 'TIERED_PERCENTAGE', tiers: [{ size: 0, price: 1 }, { price: 1 }] },
      /^tiers\[0\]\.size: /,
    ],
    [
      'a negative minimum',
      'support',
      { ...percentage, minimum_config: { minimum: -1 } },
      /^minimum_config\.minimum: /,
    ],
    ['a minimum of usage', 'usage', { ...flat, minimum_config: { minimum: 1 } }, /^minimum_config: is for/],
    ['a quantity of a flat rate', 'seat', { ...seat, quantity: 1 }, /^quantity: is for SUBSCRIPTION/],
    ['proration of a flat rate', 'seat', { ...seat, is_prorated: true }, /^is_prorated: is for/],
    [
      'no proration',
      'seat',
      { ...seat, rate_type: 'SUBSCRIPTION', is_prorated: false },
      /^is_prorated: must be true/,
    ],
    ['a negative quantity', 'seat', { ...seat, rate_type: 'SUBSCRIPTION', quantity: -1 }, /^quantity: /],
    ['a commit rate of a seat', 'seat', { ...seat, commit_rate: flat }, /^commit_rate: is for USAGE/],
    ['a commit rate of a composite', 'support', { ...percentage, commit_rate: percentage }, /^commit_rate: /],
    ['a commit percentage', 'usage', { ...flat, commit_rate: percentage }, /^commit_rate\.rate_type: /],
    [
      'a custom commit rate',
      'usage',
      { ...flat, commit_rate: { rate_type: 'CUSTOM' } },
      /^commit_rate\.rate_type: /,
    ],
    [
      'a bad tier of a commit rate',
      'usage',
      { ...flat, commit_rate: { rate_type: 'TIERED', tiers: [{ size: 1, price: 1 }] } },
      /^commit_rate\.tiers\[0\]\.size: /,
    ],
  ])('%s, %s %j', async (_, product, change, message) => {
    const rate_card_id = await newCard();
    const rate = { ...entry, product_id: products[product], ...change };
    const before = [await pool.db.$count(rates), await pool.db.$count(rateCardProducts)];
    const answer = await api.send('POST', ADD_RATE, { rate_card_id, ...rate });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
    const many = await api.send('POST', ADD_RATES, {
      rate_card_id,
      rates: [{ ...entry, ...flat, product_id: products.usage }, rate],
    });
    expect(many.status).toBe(400);
    expect(many.text('message')).toMatch(new RegExp(message.source.replace('^', '^rates\\[1\\]\\.')));
    expect([await pool.db.$count(rates), await pool.db.$count(rateCardProducts)]).toEqual(before);
  });
});

describe('the pricing unit of a product on a card', () => {
  const flat = { ...entry, rate_type: 'FLAT', price: 1 };

  test('the pricing unit of a product on a card must be one that the card can convert; it can once the conversion is there', async () => {
    const rate_card_id = await newCard();
    const body = { ...flat, rate_card_id, product_id: products.usage, credit_type_id: unconverted };
    const answer = await api.send('POST', ADD_RATE, body);
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(/^credit_type_id: .*nor a unit that it converts/);
    await api.post('/v1/contract-pricing/rate-cards/update', {
      rate_card_id,
      add_credit_type_conversions: [{ custom_credit_type_id: unconverted, fiat_per_custom_credit: 1 }],
    });
    await api.post(ADD_RATE, body);
  });

  test('the pricing unit of a product on a card is fixed by its first rate, in one call as over many', async () => {
    const rate_card_id = await newCard();
    const product_id = products.usage;
    await api.post(ADD_RATE, { ...flat, rate_card_id, product_id, credit_type_id: credits });
    const later = await api.send('POST', ADD_RATE, {
      ...flat,
      starting_at: '2030-01-01T00:00:00Z',
      rate_card_id,
      product_id,
    });
    expect(later.status).toBe(400);
    expect(later.text('message')).toMatch(/^credit_type_id: .*priced in Credits.*cannot change/);
    const mixed = await api.send('POST', ADD_RATES, {
      rate_card_id: await newCard(),
      rates: [
        { ...flat, product_id },
        { ...flat, product_id, credit_type_id: credits },
      ],
    });
    expect(mixed.status).toBe(400);
    expect(mixed.text('message')).toMatch(/^rates\[1\]\.credit_type_id: .*cannot change/);
  });

  test('the pricing unit of a product on a card goes to one of many calls that race for it, and all others with that unit', async () => {
    const rate_card_id = await newCard();
    const wanted = [credits, USD_CENTS.id, credits, USD_CENTS.id, credits, USD_CENTS.id];
    const answers = await Promise.all(
      wanted.map((credit_type_id) =>
        api.send('POST', ADD_RATE, { ...flat, rate_card_id, product_id: products.usage, credit_type_id }),
      ),
    );
    const taken = wanted.filter((_, index) => answers[index]?.status === 200);
    expect(taken).toHaveLength(3);
    expect(new Set(taken).size).toBe(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(3);
  });

  test('the pricing unit of a product on a card means nothing for percentages: any unit is accepted and none is returned', async () => {
    const body = { ...entry, rate_card_id: await newCard(), product_id: products.support };
    const percentage = { rate_type: 'PERCENTAGE', price: 0.1 };
    await api.post(ADD_RATE, { ...body, ...percentage, credit_type_id: EUR });
    const added = await api.post(ADD_RATE, { ...body, ...percentage, credit_type_id: credits });
    expect(added.at('data')).toEqual(percentage);
  });
});
