/** The check of usage: the numbers of holds, without holding anything. */
import { expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createHolder, createLimited, reserve } from '../support/holds.ts';
import { until } from '../support/thresholds.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T12:30:00Z' });
const { api } = service;

type Check = Readonly<Record<string, unknown>>;

async function check(customer: string, body: object): Promise<Check> {
  const answer = await api.post(`/v1/customers/${encodeURIComponent(customer)}/check`, body);
  return answer.at('data') as Check;
}

const use = (quantity: number) => ({ event_type: 'use', quantity });

test('a check says what a hold would, holds nothing, and may be kept for a second', async () => {
  const holder = await createHolder(api, 100);
  const { customerId } = holder;
  await reserve(api, holder.hold(`${customerId} held`, 30));
  await holder.use(20, '2026-11-10T12:10:00Z');
  expect(await check(customerId, use(50))).toEqual({
    ...{ allowed: true, reason: null, unit_price: 1, remaining: 50, held: 30 },
    ...{ credit_type: USD_CENTS, limit: null, resets_at: null },
  });
  expect(await check(customerId, use(51))).toMatchObject({
    allowed: false,
    reason: 'balance',
    remaining: 50,
  });
  expect(await reserve(api, holder.hold(`${customerId} all`, 50))).toMatchObject([{ granted: true }]);
  const path = `/v1/customers/${customerId}/check`;
  const { headers, status } = await api.send('POST', path, use(1));
  expect([status, headers.get('cache-control')]).toEqual([200, 'private, max-age=1']);
});

test('a check beside a spend limit says the limit, and when the next period begins', async () => {
  const one = await createLimited(api, { spend_limit: { amount: 80 } });
  await one.use(20, '2026-11-10T12:10:00Z');
  const body = { product_id: one.catalogue.tokens, quantity: 61 };
  expect(await check(one.customerId, body)).toEqual({
    ...{ allowed: false, reason: 'spend_limit', unit_price: 1, remaining: 60, held: 0 },
    ...{ credit_type: USD_CENTS, limit: 80, resets_at: '2026-12-01T00:00:00.000Z' },
  });
  expect(await check(one.customerId, { ...body, quantity: 60 })).toMatchObject({ allowed: true });
});

test('changes count for the next check after their answer', async () => {
  const one = await createLimited(api, { spend_limit: { amount: 10 } });
  const { customerId, catalogue } = one;
  expect(await check(customerId, use(11))).toMatchObject({ allowed: false });
  await one.edit({ spend_limit: { amount: 11 } });
  expect(await check(customerId, use(11))).toMatchObject({ allowed: true });
  const rate = { starting_at: '2026-11-10T12:00:00Z', entitled: true, rate_type: 'FLAT', price: 2 };
  await api.post(ADD_RATES, {
    ...{ rate_card_id: catalogue.card, rates: [{ ...rate, product_id: catalogue.tokens }] },
  });
  expect(await check(customerId, use(11))).toMatchObject({ allowed: false, unit_price: 2, remaining: 11 });
  await api.post('/v1/customers/archive', { id: customerId });
  expect(await check(customerId, use(1))).toMatchObject({ allowed: false, reason: 'customer_not_found' });
});

test('holds that are over are free in a check, too', async () => {
  const holder = await createHolder(api, 100);
  await reserve(api, holder.hold(`${holder.customerId} short`, 100, { ttl_seconds: 60 }));
  expect(await check(holder.customerId, use(1))).toMatchObject({ allowed: false, held: 100, remaining: 0 });
  await service.moveClock('2026-11-10T12:32:00Z');
  expect(await check(holder.customerId, use(1))).toMatchObject({ allowed: true, held: 0, remaining: 100 });
  const list = await api.get('/v1/holds', { query: { customer_id: holder.customerId, status: 'expired' } });
  expect(list.list('data')).toHaveLength(1);
});

/** A product with tiers for each region, one that nobody is entitled to, and one that is not on the card. */
async function createPriced() {
  const metric = async (name: string, more: object) =>
    await createdId(api, METRICS, { name, event_type_filter: { in_values: [name] }, ...more });
  const product = async (name: string, billable_metric_id: string, more: object = {}) =>
    await createdId(api, PRODUCTS, { name, type: 'USAGE', billable_metric_id, ...more });
  const call = await metric('call', {
    ...{ aggregation_type: 'SUM', aggregation_key: 'seconds', group_keys: [['region']] },
    property_filters: ['seconds', 'region'].map((name) => ({ name, exists: true })),
  });
  const peak = {
    ...{ aggregation_type: 'MAX', aggregation_key: 'size' },
    property_filters: [{ name: 'size', exists: true }],
  };
  const ids = {
    calls: await product('Calls', call, { pricing_group_key: ['region'] }),
    closed: await product('Closed', await metric('closed', { aggregation_type: 'COUNT' })),
    peaks: await product('Peaks', await metric('peak', peak)),
    unlisted: await product('Unlisted', await metric('unlisted', { aggregation_type: 'COUNT' })),
  };
  const rate_card_id = await createdId(api, RATE_CARDS, { name: 'Card' });
  const common = { starting_at: '2026-01-01T00:00:00Z', entitled: true };
  const tiers = [{ size: 10, price: 5 }, { price: 3 }];
  await api.post(ADD_RATES, {
    rate_card_id,
    rates: [
      {
        ...{ ...common, product_id: ids.calls, rate_type: 'TIERED', tiers },
        pricing_group_values: { region: 'eu' },
      },
      { ...common, product_id: ids.closed, entitled: false, rate_type: 'FLAT', price: 1 },
      { ...common, product_id: ids.peaks, rate_type: 'FLAT', price: 7 },
    ],
  });
  const alias = `priced/${Date.now()} ü`;
  const customer_id = await createdId(api, '/v1/customers', { name: 'Priced', ingest_aliases: [alias] });
  const spend_limit = { amount: 1000 };
  const starting_at = '2026-11-01T00:00:00Z';
  await createdId(api, CONTRACTS, { customer_id, rate_card_id, starting_at, spend_limit });
  return { ...ids, alias, customer_id };
}

test('a check prices products and events alike: tiers reached, group values, maxima, and what has no price', async () => {
  const { alias, customer_id, calls, closed, peaks, unlisted } = await createPriced();
  const send = (event_type: string, properties: object) =>
    api.post('/v1/ingest', [
      {
        ...{ transaction_id: `${alias} ${event_type}`, customer_id, event_type, properties },
        timestamp: '2026-11-10T12:00:00Z',
      },
    ]);
  const eu = { region: 'eu' };
  const cases: readonly (readonly [object, object])[] = [
    [
      { product_id: calls, properties: eu, quantity: 4 },
      { allowed: true, unit_price: 3, remaining: 950 },
    ],
    [
      { event_type: 'call', properties: { ...eu, seconds: 4 } },
      { allowed: true, unit_price: 3 },
    ],
    [
      { event_type: 'call', properties: eu },
      { allowed: true, unit_price: 3 },
    ],
    [
      { event_type: 'call', properties: { ...eu, seconds: 1 }, quantity: 317 },
      { allowed: false, reason: 'spend_limit', remaining: 950 },
    ],
    [
      { event_type: 'call', properties: { ...eu, seconds: 1 }, quantity: 316 },
      { allowed: true, reason: null, remaining: 950 },
    ],
    [{ product_id: calls }, { allowed: false, reason: 'not_priceable', unit_price: null, remaining: null }],
    [
      { product_id: calls, properties: { region: 'us' } },
      { allowed: false, reason: 'unpriced' },
    ],
    [{ product_id: closed }, { allowed: false, reason: 'not_entitled' }],
    [{ event_type: 'closed' }, { allowed: false, reason: 'not_entitled' }],
    [{ product_id: unlisted }, { allowed: false, reason: 'unpriced' }],
    [{ event_type: 'nothing' }, { allowed: false, reason: 'unpriced', held: 0, credit_type: null }],
    [
      { product_id: peaks, quantity: 2 },
      { allowed: true, unit_price: 7 },
    ],
  ];
  await send('call', { ...eu, seconds: 10 });
  for (const [body, expected] of cases) expect(await check(alias, body)).toMatchObject(expected);
  // Only the part above the maximum so far is checked.
  await send('peak', { size: 100 });
  expect(await check(alias, { product_id: peaks, quantity: 100 })).toMatchObject({
    ...{ allowed: true, remaining: 250, unit_price: 7 },
  });
  expect(await check(alias, { event_type: 'peak', quantity: 136 })).toMatchObject({ allowed: false });
  expect(await check('nobody', { product_id: calls })).toMatchObject({
    ...{ allowed: false, reason: 'customer_not_found', remaining: null },
  });
});

test.each([
  ['neither', {}, 400, /^product_id: either product_id or event_type is needed/],
  [
    'both',
    { product_id: '7a0a0a0a-0000-4000-8000-000000000000', event_type: 'use' },
    400,
    /either product_id or event_type/,
  ],
  ['a negative quantity', { event_type: 'use', quantity: -1 }, 400, /^quantity: must be at least 0/],
  [
    'an unknown product',
    { product_id: '7a0a0a0a-0000-4000-8000-000000000000' },
    404,
    /^product_id: product 7a0a0a0a.* not found/,
  ],
  ['an event type that ingest would refuse', { event_type: 'a'.repeat(257) }, 400, /^event_type: /],
  [
    'properties that ingest would refuse',
    { event_type: 'use', properties: { ['a'.repeat(2000)]: 1 } },
    400,
    /name/,
  ],
])('%s is answered with its status', async (_, body, status, message) => {
  const { customerId } = await createLimited(api, {});
  const answer = await api.send('POST', `/v1/customers/${customerId}/check`, body);
  expect(answer.status).toBe(status);
  expect((answer.body as { message: string }).message).toMatch(message);
});

test('checks beside grants and usage never say that more is left than there is, and are right in the end', async () => {
  const holder = await createHolder(api, 1000);
  const { customerId } = holder;
  let taken = 0;
  const take = async (index: number) => {
    await reserve(api, holder.hold(`${customerId} ${index}`, 10));
    taken += 10;
    if (index % 2 === 0) {
      await api.post('/v1/holds/settle', { settlements: [{ transaction_id: `${customerId} ${index}` }] });
    }
  };
  const look = async () => {
    const before = taken;
    const { remaining } = await check(customerId, use(1));
    expect(Number(remaining)).toBeLessThanOrEqual(1000 - before);
  };
  await Promise.all(Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? take(index) : look())));
  const last = await until(
    () => check(customerId, use(1)),
    ({ remaining }) => remaining === 1000 - taken,
    30_000,
  );
  expect(last.remaining).toBe(700);
});
