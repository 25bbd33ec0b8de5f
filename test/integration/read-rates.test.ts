import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { formatInstant, HOUR_MS } from '../../src/core/time.ts';
import {
  ADD_RATES,
  createdId,
  METRICS,
  PRODUCTS,
  RATE_CARDS,
  TOKENS_METRIC,
} from '../support/catalogue-api.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';
import { runs } from '../support/shares-of-tests.ts';

const { api } = await catalogueForFile();
let card: string;
let tokens: string;
let plain: string;
let seat: string;

const BASE = '/v1/contract-pricing/rate-cards';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const START = Date.UTC(2026, 0, 1);
const at = (hour: number) => formatInstant(START + hour * HOUR_MS);

function flat(price: number, from: number, to: number | null = null) {
  return {
    starting_at: at(from),
    ...(to === null ? {} : { ending_before: at(to) }),
    entitled: true,
    rate_type: 'FLAT',
    price,
  };
}

beforeAll(async () => {
  const billable_metric_id = await createdId(api, METRICS, TOKENS_METRIC);
  const usage = { type: 'USAGE', billable_metric_id };
  tokens = await createdId(api, PRODUCTS, {
    ...usage,
    name: 'Tokens',
    tags: ['ai', 'llm'],
    pricing_group_key: ['model', 'region'],
  });
  plain = await createdId(api, PRODUCTS, { ...usage, name: 'Plain', tags: ['old'] });
  seat = await createdId(api, PRODUCTS, { name: 'Seat', type: 'SUBSCRIPTION' });
  await api.post('/v1/contract-pricing/products/update', {
    product_id: plain,
    starting_at: at(24),
    name: 'Plain 2',
    tags: ['new'],
  });
  card = await createdId(api, RATE_CARDS, { name: 'Card' });
  const group = (model: string, region: string) => ({
    product_id: tokens,
    pricing_group_values: { model, region },
  });
  await api.post(ADD_RATES, {
    rate_card_id: card,
    rates: [
      { ...flat(1, 0), ...group('large', 'eu') },
      { ...flat(2, 0), ...group('large', 'us') },
      { ...flat(3, 0), ...group('small', 'eu'), entitled: false },
      { ...flat(4, 0), product_id: tokens },
      { ...flat(5, 0), product_id: plain },
      { ...flat(6, 20, 30), product_id: plain },
      { ...flat(7, 0), product_id: seat, billing_frequency: 'MONTHLY' },
      { ...flat(8, 0), product_id: seat, billing_frequency: 'ANNUAL' },
    ],
  });
});

async function all(path: string, body: object, limit = 100): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  let cursor: string | undefined;
  do {
    const page = await api.post(`${BASE}/${path}`, body, { query: { limit, next_page: cursor } });
    for (const row of page.list('data')) rows.push({ ...(row as object) });
    cursor = page.at('next_page') === null ? undefined : page.text('next_page');
  } while (cursor !== undefined);
  return rows;
}

function priceOf(row: Record<string, unknown> | undefined): unknown {
  const { rate } = row ?? {};
  return typeof rate === 'object' && rate !== null && 'price' in rate ? rate.price : undefined;
}

const pricesAt = async (hour: number, selectors?: object[]) =>
  (await all('getRates', { rate_card_id: card, at: at(hour), selectors })).map(priceOf);

describe('the rates at an instant', () => {
  test('the rates at an instant are those in force, entitled or not, with the time in which they are', async () => {
    const rows = await all('getRates', { rate_card_id: card, at: at(22) });
    expect(rows.map(priceOf)).toEqual([1, 2, 3, 4, 6, 7, 8]);
    expect(rows.map(({ entitled }) => entitled)).toEqual([true, true, false, true, true, true, true]);
    expect(rows[0]).toMatchObject({
      product_id: tokens,
      product_name: 'Tokens',
      product_tags: ['ai', 'llm'],
      pricing_group_values: { model: 'large', region: 'eu' },
      starting_at: at(0),
      rate: { rate_type: 'FLAT', price: 1, pricing_group_values: { model: 'large', region: 'eu' } },
    });
    expect(rows[4]).toMatchObject({ product_id: plain, starting_at: at(20), ending_before: at(30) });
    expect(rows.slice(5).map((row) => row.billing_frequency)).toEqual(['MONTHLY', 'ANNUAL']);
    expect(await pricesAt(-1)).toEqual([]);
  });

  test('name and tags are those of the product at that time', async () => {
    const [before] = await all('getRates', {
      rate_card_id: card,
      at: at(23),
      selectors: [{ product_id: plain }],
    });
    const [after] = await all('getRates', {
      rate_card_id: card,
      at: at(24),
      selectors: [{ product_id: plain }],
    });
    expect(before).toMatchObject({ product_name: 'Plain', product_tags: ['old'] });
    expect(after).toMatchObject({ product_name: 'Plain 2', product_tags: ['new'] });
  });

  test('selectors are ORed, what one of them says is ANDed', async () => {
    const cases: [object[], number[]][] = [
      [[], [1, 2, 3, 4, 5, 7, 8]],
      [[{ product_id: plain }], [5]],
      [
        [{ product_id: plain }, { billing_frequency: 'Annual' }],
        [5, 8],
      ],
      [[{ product_id: seat, billing_frequency: 'monthly' }], [7]],
      [[{ product_id: plain, billing_frequency: 'MONTHLY' }], []],
      [[{ pricing_group_values: { region: 'eu', model: 'large' } }], [1]],
      [[{ pricing_group_values: { model: 'large' } }], []],
      [[{ product_id: tokens, pricing_group_values: {} }], [4]],
      [[{ partial_pricing_group_values: { model: 'large' } }], [1, 2]],
      [[{ partial_pricing_group_values: { model: 'Large' } }], []],
      [
        [{ partial_pricing_group_values: { region: 'eu' } }, { product_tags: ['old'] }],
        [1, 3, 5],
      ],
      [[{ product_tags: ['llm', 'old'] }], [1, 2, 3, 4, 5]],
      [[{ product_tags: ['new'] }], []],
      [[{ product_tags: ['llm'], product_id: plain }], []],
      [[{ product_tags: ['llm'], partial_pricing_group_values: { region: 'us' } }], [2]],
      [[{ product_tags: [] }], []],
      [[{ product_id: UNKNOWN }], []],
      [[{}], [1, 2, 3, 4, 5, 7, 8]],
    ];
    for (const [selectors, expected] of cases) {
      expect([selectors, await pricesAt(10, selectors)]).toEqual([selectors, expected]);
    }
    expect(await pricesAt(30, [{ product_tags: ['new'] }])).toEqual([5]);
  });

  test.each([1, 2, 3, 6, 7, 8])('pages of %i reach every rate once', async (limit) => {
    const rows = await all('getRates', { rate_card_id: card, at: at(22) }, limit);
    expect(rows.map(priceOf)).toEqual([1, 2, 3, 4, 6, 7, 8]);
  });
});

describe('the schedule of rates', () => {
  test('the schedule of rates shows every segment that meets the range, with its own start and end', async () => {
    const segments = async (range: object) =>
      (
        await all('getRateSchedule', { rate_card_id: card, ...range, selectors: [{ product_id: plain }] })
      ).map((row) => [priceOf(row), row.starting_at, row.ending_before]);
    const first = [5, at(0), at(20)];
    const second = [6, at(20), at(30)];
    const third = [5, at(30), undefined];
    expect(await segments({ starting_at: at(-5) })).toEqual([first, second, third]);
    expect(await segments({ starting_at: at(20) })).toEqual([second, third]);
    expect(await segments({ starting_at: at(19), ending_before: at(20) })).toEqual([first]);
    expect(await segments({ starting_at: at(29), ending_before: at(31) })).toEqual([second, third]);
    expect(await segments({ starting_at: at(-5), ending_before: at(0) })).toEqual([]);
  });

  test.each([1, 2, 4, 9])('pages of %i reach every segment once', async (limit) => {
    const whole = await all('getRateSchedule', { rate_card_id: card, starting_at: at(0) });
    expect(whole.map(priceOf)).toEqual([1, 2, 3, 4, 5, 6, 5, 7, 8]);
    expect(await all('getRateSchedule', { rate_card_id: card, starting_at: at(0) }, limit)).toEqual(whole);
  });

  test('an unknown card answers 404; an empty range and a broken cursor 400', async () => {
    const range = { starting_at: at(0), ending_before: at(0) };
    const schedule = (body: object, query: Record<string, string> = {}) =>
      api.send('POST', `${BASE}/getRateSchedule`, body, { query });
    expect((await schedule({ rate_card_id: UNKNOWN, starting_at: at(0) })).status).toBe(404);
    const empty = await schedule({ rate_card_id: card, ...range });
    expect(empty.status).toBe(400);
    expect(empty.text('message')).toMatch(/^ending_before: /);
    expect((await schedule({ rate_card_id: card, starting_at: at(0) }, { next_page: 'x' })).status).toBe(400);
    const unknown = await api.send('POST', `${BASE}/getRates`, { rate_card_id: UNKNOWN, at: at(0) });
    expect(unknown.status).toBe(404);
  });
});

describe('rates that were added in any order', () => {
  const HOURS = 16;
  const added = fc.array(
    fc.record({
      model: fc.constantFrom('a', 'b'),
      from: fc.integer({ min: 0, max: HOURS - 1 }),
      length: fc.option(fc.integer({ min: 1, max: 8 })),
    }),
    { minLength: 1, maxLength: 10 },
  );

  /** Per hour: the last rate with an end that covers it, unless an open one with no earlier start came later. */
  function expectedPrice(rates: readonly { from: number; to: number | null; price: number }[], hour: number) {
    let holder: { from: number; to: number | null; price: number } | null = null;
    for (const [index, rate] of rates.entries()) {
      const replaced = rates
        .slice(index + 1)
        .some((later) => later.from === rate.from && (later.to === null || rate.to !== null));
      if (replaced || hour < rate.from || (rate.to !== null && hour >= rate.to)) continue;
      if (rate.to !== null || holder === null || holder.from <= rate.from) holder = rate;
    }
    return holder?.price;
  }

  test('rates that were added in any order are in force hour by hour as a naive model says, read at an instant or as a schedule', async () => {
    await fc.assert(
      fc.asyncProperty(added, async (given) => {
        const rates = given.map(({ model, from, length }, price) => ({
          model,
          from,
          to: length === null ? null : from + length,
          price,
        }));
        const rate_card_id = await createdId(api, RATE_CARDS, { name: 'Random' });
        await api.post(ADD_RATES, {
          rate_card_id,
          rates: rates.map(({ model, from, to, price }) => ({
            ...flat(price, from, to),
            product_id: tokens,
            pricing_group_values: { model, region: 'eu' },
          })),
        });
        const schedule = await all('getRateSchedule', { rate_card_id, starting_at: at(0) }, 3);
        for (const model of ['a', 'b']) {
          const selectors = [{ partial_pricing_group_values: { model } }];
          const segments = schedule.filter((row) => JSON.stringify(row).includes(`"model":"${model}"`));
          const own = rates.filter((rate) => rate.model === model);
          for (let hour = 0; hour < HOURS; hour += 1) {
            const expected = expectedPrice(own, hour);
            const covering = segments.filter(
              ({ starting_at, ending_before }) =>
                String(starting_at) <= at(hour) &&
                (ending_before === undefined || at(hour) < String(ending_before)),
            );
            expect(covering.map(priceOf)).toEqual(expected === undefined ? [] : [expected]);
            if (hour % 5 !== 0) continue;
            const rows = await all('getRates', { rate_card_id, at: at(hour), selectors });
            expect(rows.map(priceOf)).toEqual(expected === undefined ? [] : [expected]);
          }
        }
      }),
      { numRuns: runs(15) },
    );
  });
});
