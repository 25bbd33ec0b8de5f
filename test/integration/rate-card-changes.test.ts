import { beforeAll, describe, expect, test } from 'vitest';
import { FREQUENT_CREDIT_TYPES, OTHER_CREDIT_TYPES, USD_CENTS } from '../../src/core/credit-types.ts';
import { rateCardProductOrder } from '../../src/store/rate-cards/rate-cards.ts';
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
import { refusalOf } from '../support/refusal.ts';

const { pool, api } = await catalogueForFile();
let products: string[];
let units: [string, string];

beforeAll(async () => {
  const metric = await createdId(api, METRICS, TOKENS_METRIC);
  products = [];
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    products.push(await createdId(api, PRODUCTS, { name, type: 'USAGE', billable_metric_id: metric }));
  }
  units = [await createdId(api, UNITS, { name: 'Credits' }), await createdId(api, UNITS, { name: 'Tokens' })];
});

const BASE = '/v1/contract-pricing/rate-cards';
const UNITS = '/v1/credit-types/create';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const flat = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 1.5 };

const newCard = (terms: object = {}) => createdId(api, RATE_CARDS, { name: 'Card', ...terms });
const getCard = (id: string) => api.post(`${BASE}/get`, { id });

/** All pricing units, in pages of a length. */
async function everyUnit(limit: number): Promise<unknown[]> {
  const seen: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await api.get('/v1/credit-types/list', { query: { limit, next_page: cursor } });
    expect(page.list('data').length).toBeLessThanOrEqual(limit);
    seen.push(...page.list('data'));
    cursor = page.at('next_page') === null ? undefined : page.text('next_page');
  } while (cursor !== undefined);
  return seen;
}

describe('pricing units', () => {
  test('the list has US cents, frequent currencies, custom units, then other currencies, each once in pages', async () => {
    const seen = await everyUnit(3);
    const [frequent, others] = [FREQUENT_CREDIT_TYPES, OTHER_CREDIT_TYPES].map((all) =>
      all.map((fiat) => ({ ...fiat, is_currency: true })),
    );
    expect(seen.slice(0, frequent?.length)).toEqual(frequent);
    expect(seen.slice(-OTHER_CREDIT_TYPES.length)).toEqual(others);
    const custom = seen.slice(frequent?.length, -OTHER_CREDIT_TYPES.length);
    expect(custom).toEqual(custom.map(() => expect.objectContaining({ is_currency: false })));
    // The clock stands still: all units were created at one instant, so their order is not defined.
    expect(custom).toEqual(
      expect.arrayContaining([
        { id: units[0], name: 'Credits', is_currency: false },
        { id: units[1], name: 'Tokens', is_currency: false },
      ]),
    );
    expect(new Set(seen.map((unit) => JSON.stringify(unit))).size).toBe(seen.length);
    expect(seen[0]).toEqual({ ...USD_CENTS, is_currency: true });
    expect((await api.get('/v1/credit-types/list')).list('data')).toEqual(seen.slice(0, 100));
  });

  // Around the ends of the frequent currencies and of the custom units, and longer ones.
  test.each([1, 2, ...Array.from({ length: 8 }, (_, index) => index + 15), 99, 100])(
    'a page of %i ends where the next one begins',
    async (limit) => expect(await everyUnit(limit)).toEqual(await everyUnit(7)),
  );

  test('a name belongs to one unit, currencies included', async () => {
    for (const name of ['Credits', 'EUR', 'JPY', USD_CENTS.name]) {
      const answer = await api.send('POST', UNITS, { name });
      expect(answer.status).toBe(409);
      expect(answer.headers.get('x-should-retry')).toBe('false');
    }
    const racing = await Promise.all([1, 2, 3].map(() => api.send('POST', UNITS, { name: 'Raced' })));
    expect(racing.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(await refusalOf(api, UNITS, { name: '' })).toMatch(/^name: /);
  });
});

describe('updating a rate card', () => {
  test('given fields of a rate card change, omitted ones stay', async () => {
    const conversion = { custom_credit_type_id: units[0], fiat_per_custom_credit: 2.5 };
    const id = await newCard({
      description: 'Old',
      aliases: [{ name: 'kept' }],
      credit_type_conversions: [conversion],
    });
    const answer = await api.post(`${BASE}/update`, { rate_card_id: id, name: 'New name' });
    expect(answer.text('data.id')).toBe(id);
    const credits = { custom_credit_type: { id: units[0], name: 'Credits' }, fiat_per_custom_credit: '2.5' };
    expect((await getCard(id)).at('data')).toMatchObject({
      name: 'New name',
      description: 'Old',
      aliases: [{ name: 'kept' }],
      credit_type_conversions: [credits],
    });
    await api.post(`${BASE}/update`, {
      rate_card_id: id,
      description: 'New',
      add_credit_type_conversions: [{ custom_credit_type_id: units[1], fiat_per_custom_credit: 0.001 }],
    });
    const card = await getCard(id);
    expect(card.at('data')).toMatchObject({ name: 'New name', description: 'New' });
    expect(card.list('data.credit_type_conversions')).toEqual(
      expect.arrayContaining([
        credits,
        { custom_credit_type: { id: units[1], name: 'Tokens' }, fiat_per_custom_credit: '0.001' },
      ]),
    );
  });

  test('aliases are replaced; the sent ones are returned, and take over from other cards', async () => {
    const old = await newCard({ aliases: [{ name: 'paygo' }] });
    const next = await newCard();
    const from = '2027-01-01T00:00:00.000Z';
    await api.post(`${BASE}/update`, { rate_card_id: next, aliases: [{ name: 'paygo', starting_at: from }] });
    expect((await getCard(old)).at('data.aliases')).toEqual([{ name: 'paygo', ending_before: from }]);

    const aliases = [
      { name: 'paygo', starting_at: from, ending_before: '2027-06-01T00:00:00.000Z' },
      { name: 'standard' },
    ];
    await api.post(`${BASE}/update`, { rate_card_id: next, aliases });
    expect((await getCard(next)).at('data.aliases')).toEqual(aliases);
    await api.post(`${BASE}/update`, { rate_card_id: next, aliases: [] });
    expect((await getCard(next)).at('data.aliases')).toEqual([]);
    expect((await getCard(old)).at('data.aliases')).toEqual([{ name: 'paygo', ending_before: from }]);
  });

  test('a card and a contract that its alias names go together', async () => {
    const first = await newCard({ aliases: [{ name: 'by-alias' }] });
    const second = await newCard();
    await api.post(`${BASE}/update`, {
      rate_card_id: second,
      aliases: [{ name: 'by-alias', starting_at: '2026-06-01T00:00:00Z' }],
    });
    const customer = await api.post('/v1/customers', { name: 'Acme' });
    const cardOf = async (starting_at: string) => {
      const customer_id = customer.text('data.id');
      const contract = { customer_id, starting_at, rate_card_alias: 'by-alias' };
      const contract_id = await createdId(api, CONTRACTS, contract);
      return (await api.post('/v2/contracts/get', { customer_id, contract_id })).text('data.rate_card_id');
    };
    expect(await cardOf('2026-05-01T00:00:00Z')).toBe(first);
    expect(await cardOf('2026-06-01T00:00:00Z')).toBe(second);
  });

  test.each<[string, () => object, RegExp]>([
    [
      'a conversion that exists',
      () => ({
        add_credit_type_conversions: [{ custom_credit_type_id: units[0], fiat_per_custom_credit: 3 }],
      }),
      /^add_credit_type_conversions\[0\]\.custom_credit_type_id: .*cannot change/,
    ],
    [
      'a conversion given twice',
      () => ({
        add_credit_type_conversions: [
          { custom_credit_type_id: units[1], fiat_per_custom_credit: 3 },
          { custom_credit_type_id: units[1], fiat_per_custom_credit: 3 },
        ],
      }),
      /^add_credit_type_conversions\[1\]\.custom_credit_type_id: /,
    ],
    [
      'a conversion of a currency',
      () => ({
        add_credit_type_conversions: [{ custom_credit_type_id: USD_CENTS.id, fiat_per_custom_credit: 3 }],
      }),
      /^add_credit_type_conversions\[0\]\.custom_credit_type_id: .*not a custom/,
    ],
    [
      'a conversion into less than nothing',
      () => ({
        add_credit_type_conversions: [{ custom_credit_type_id: units[1], fiat_per_custom_credit: -1 }],
      }),
      /^add_credit_type_conversions\[0\]\.fiat_per_custom_credit: /,
    ],
    [
      'an alias that ends before it starts',
      () => ({
        aliases: [{ name: 'x', starting_at: '2026-02-01T00:00:00Z', ending_before: '2026-01-01T00:00:00Z' }],
      }),
      /^aliases\[0\]\.ending_before: /,
    ],
  ])('%s answers 400 and changes nothing', async (_, change, message) => {
    const id = await newCard({
      credit_type_conversions: [{ custom_credit_type_id: units[0], fiat_per_custom_credit: 2 }],
    });
    const before = (await getCard(id)).body;
    expect(
      await refusalOf(api, `${BASE}/update`, { rate_card_id: id, name: 'Changed', ...change() }),
    ).toMatch(message);
    expect((await getCard(id)).body).toEqual(before);
  });

  test('an unknown card answers 404', async () => {
    for (const [path, body] of [
      ['update', { rate_card_id: UNKNOWN, name: 'x' }],
      ['archive', { id: UNKNOWN }],
      ['setRateCardProductsOrder', { rate_card_id: UNKNOWN, product_order: [] }],
      ['moveRateCardProducts', { rate_card_id: UNKNOWN, product_moves: [] }],
    ] as const) {
      expect(await refusalOf(api, `${BASE}/${path}`, body, 404)).toMatch(/not found/);
    }
  });
});

describe('archiving a rate card', () => {
  test('blocks new contracts, hides it from the list, and leaves its contracts and rates alone', async () => {
    const id = await newCard();
    const customer = await api.post('/v1/customers', { name: 'Acme' });
    const contract = {
      customer_id: customer.text('data.id'),
      starting_at: '2026-05-01T00:00:00Z',
      rate_card_id: id,
    };
    await api.post(CONTRACTS, contract);
    expect((await api.post(`${BASE}/archive`, { id })).text('data.id')).toBe(id);
    await api.post(`${BASE}/archive`, { id });
    expect(await refusalOf(api, CONTRACTS, contract)).toMatch(/^rate_card_id: .*archived/);
    const listed = await api.post(`${BASE}/list`, {});
    expect(JSON.stringify(listed.body)).not.toContain(id);
    expect((await getCard(id)).text('data.id')).toBe(id);
    await api.post(ADD_RATE, { ...flat, rate_card_id: id, product_id: products[0] });
  });
});

describe('the order of products', () => {
  async function cardWithAll(): Promise<string> {
    const id = await newCard();
    const rates = products.map((product_id) => ({ ...flat, product_id }));
    await api.post(ADD_RATES, { rate_card_id: id, rates });
    return id;
  }
  const names = async (id: string) =>
    ((await rateCardProductOrder(pool.db, [id])).get(id) ?? [])
      .map((product) => 'abcde'[products.indexOf(product)])
      .join('');
  const ids = (text: string) => Array.from(text, (name) => products['abcde'.indexOf(name)]);

  test('named products come first, the others keep their order after them, new ones come last', async () => {
    const id = await newCard();
    const add = (text: string) =>
      api.post(ADD_RATES, {
        rate_card_id: id,
        rates: ids(text).map((product_id) => ({ ...flat, product_id })),
      });
    await add('abcd');
    const set = (text: string) =>
      api.post(`${BASE}/setRateCardProductsOrder`, { rate_card_id: id, product_order: ids(text) });
    expect((await set('cb')).text('data.id')).toBe(id);
    expect(await names(id)).toBe('cbad');
    await add('e');
    expect(await names(id)).toBe('cbade');
    await set('d');
    expect(await names(id)).toBe('dcbae');
    await set('');
    expect(await names(id)).toBe('dcbae');
  });

  test.each<[[string, number][], string]>([
    [[['e', 0]], 'eabcd'],
    [[['a', 4]], 'bcdea'],
    [[['c', 2]], 'abcde'],
    [
      [
        ['a', 1],
        ['b', 0],
      ],
      'bacde',
    ],
    [
      [
        ['e', 1],
        ['a', 3],
        ['c', 0],
      ],
      'cebad',
    ],
  ])('the order of products: after the moves %j it is %s', async (moves, expected) => {
    const id = await cardWithAll();
    await api.post(`${BASE}/moveRateCardProducts`, {
      rate_card_id: id,
      product_moves: moves.map(([name, position]) => ({ product_id: ids(name)[0], position })),
    });
    expect(await names(id)).toBe(expected);
  });

  test('products without rates on the card, repeats and places that do not exist answer 400', async () => {
    const id = await newCard();
    await api.post(ADD_RATES, {
      rate_card_id: id,
      rates: ids('ab').map((product_id) => ({ ...flat, product_id })),
    });
    const set = (product_order: unknown[]) =>
      refusalOf(api, `${BASE}/setRateCardProductsOrder`, { rate_card_id: id, product_order });
    expect(await set([...ids('a'), UNKNOWN])).toMatch(/^product_order\[1\]: .*no rates/);
    expect(await set(ids('bc'))).toMatch(/^product_order\[1\]: .*no rates/);
    expect(await set(ids('bb'))).toMatch(/^product_order\[1\]: repeats/);
    const move = (...moves: [string | undefined, number][]) =>
      refusalOf(api, `${BASE}/moveRateCardProducts`, {
        rate_card_id: id,
        product_moves: moves.map(([product_id, position]) => ({ product_id, position })),
      });
    const [a, b] = ids('ab');
    expect(await move([UNKNOWN, 0])).toMatch(/^product_moves\[0\]\.product_id: /);
    expect(await move([a, 0], [a, 1])).toMatch(/^product_moves\[1\]\.product_id: repeats/);
    expect(await move([a, 2])).toMatch(/^product_moves\[0\]\.position: /);
    expect(await move([a, -1])).toMatch(/^product_moves\[0\]\.position: /);
    expect(await move([a, 1], [b, 1])).toMatch(/^product_moves\[1\]\.position: /);
    expect(await names(id)).toBe('ab');
  });
});
