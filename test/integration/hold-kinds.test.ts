/**
 * Holds kind by kind: of seats' own credits, at prices for commits, in custom units, of amounts, and refused without a
 * price (docs/explanation/holds.md, "What an event costs").
 */
import { describe, expect, test } from 'vitest';
import { FIAT_CREDIT_TYPES, USD_CENTS } from '../../src/core/credit-types.ts';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { type Answered, reserve } from '../support/holds.ts';
import { until } from '../support/thresholds.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T12:30:00Z' });
const { api } = service;

const starting_at = '2026-11-01T00:00:00Z';
const NOW = '2026-11-10T12:00:00Z';
let named = 0;

/** A USAGE product at 10 a unit, which counts the values of `size` of a separate event type by `user`. */
async function createProduct({ metric = {}, product = {}, rate = {} as object | null }) {
  named += 1;
  const event_type = `kind ${named}`;
  const billable_metric_id = await createdId(api, METRICS, {
    ...{ name: event_type, event_type_filter: { in_values: [event_type] } },
    ...{ aggregation_type: 'SUM', aggregation_key: 'size', group_keys: [['user']] },
    property_filters: ['size', 'user'].map((name) => ({ name, exists: true })),
    ...metric,
  });
  const product_id = await createdId(api, PRODUCTS, {
    ...{ name: event_type, type: 'USAGE', billable_metric_id },
    ...product,
  });
  const listed = { rate_type: 'FLAT', price: 10, entitled: true, starting_at: '2026-01-01T00:00:00Z' };
  const rates = rate === null ? [] : [{ ...listed, product_id, ...rate }];
  return { event_type, product_id, rates };
}

/** A customer with a contract on a separate card. */
async function createCustomer(
  rates: readonly object[],
  { terms = {}, conversions = [] as readonly object[] } = {},
) {
  named += 1;
  const rate_card_id = await createdId(api, RATE_CARDS, {
    ...{ name: `Card ${named}`, credit_type_conversions: conversions },
  });
  if (rates.length > 0) await api.post(ADD_RATES, { rate_card_id, rates });
  const customer_id = await createdId(api, '/v1/customers', { name: `Customer ${named}` });
  await createdId(api, CONTRACTS, { customer_id, rate_card_id, starting_at, ...terms });
  let sent = 0;
  const ask = async (what: object): Promise<Answered | undefined> => {
    sent += 1;
    const [answer] = await reserve(api, { customer_id, transaction_id: `${customer_id} ${sent}`, ...what });
    return answer;
  };
  const ingest = async (event_type: string, properties: object) => {
    sent += 1;
    const event = { customer_id, event_type, properties, timestamp: NOW };
    await api.post('/v1/ingest', [{ transaction_id: `${customer_id} ${sent}`, ...event }]);
  };
  return { customer_id, rate_card_id, ask, ingest };
}

async function createFee(): Promise<string> {
  return await createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' });
}

function access(amount: number, credit_type_id: string = USD_CENTS.id) {
  return {
    credit_type_id,
    schedule_items: [{ amount, starting_at, ending_before: '2027-11-01T00:00:00Z' }],
  };
}

async function createUnit(): Promise<string> {
  named += 1;
  return await createdId(api, '/v1/credit-types/create', { name: `Unit ${named} ${Date.now()}` });
}

test("a seat's own credit pays for its seat alone, and usage of nobody's seat has none", async () => {
  const { event_type, rates } = await createProduct({ product: { presentation_group_key: ['user'] } });
  const seats = await createdId(api, PRODUCTS, { name: 'Seats', type: 'SUBSCRIPTION' });
  const seat = { product_id: seats, price: 1000, billing_frequency: 'MONTHLY', rate_type: 'FLAT' };
  const { ask, ingest } = await createCustomer(
    [...rates, { ...seat, entitled: true, starting_at: '2026-01-01T00:00:00Z' }],
    {
      terms: {
        subscriptions: [
          {
            subscription_rate: { billing_frequency: 'MONTHLY', product_id: seats },
            ...{ collection_schedule: 'ARREARS', quantity_management_mode: 'SEAT_BASED' },
            seat_config: { seat_group_key: 'user', initial_seat_ids: ['ada', 'bob'] },
            proration: { is_prorated: false, invoice_behavior: 'BILL_ON_NEXT_COLLECTION_DATE' },
            temporary_id: 'seats',
          },
        ],
        recurring_credits: [
          {
            product_id: await createFee(),
            access_amount: { unit_price: 100, credit_type_id: USD_CENTS.id },
            subscription_config: {
              ...{ subscription_id: 'seats', allocation: 'INDIVIDUAL' },
              apply_seat_increase_config: { is_prorated: false },
            },
            ...{ commit_duration: { value: 1 }, priority: 1, starting_at },
          },
        ],
      },
    },
  );
  const of = (user: string, size: number) => ({ event: { event_type, properties: { user, size } } });
  expect(await ask(of('ada', 7))).toMatchObject({ granted: true, amount: 70, remaining: 30 });
  await ingest(event_type, { user: 'ada', size: 2 });
  expect(await ask(of('ada', 2))).toMatchObject({ granted: false, reason: 'balance', remaining: 10 });
  expect(await ask(of('bob', 10))).toMatchObject({ granted: true, remaining: 0 });
  // Nothing pays for it, and no limit judges it.
  expect(await ask(of('eve', 10_000))).toMatchObject({ granted: true, remaining: null });
});

describe('prices for commits', () => {
  test('usage that a commit at commit rates pays for is held at that rate', async () => {
    const rate = { price: 10, commit_rate: { rate_type: 'FLAT', price: 4 } };
    const { event_type, rates } = await createProduct({ rate });
    const commit = {
      ...{ type: 'PREPAID', product_id: await createFee(), priority: 1, rate_type: 'COMMIT_RATE' },
      access_schedule: access(100),
    };
    const { ask } = await createCustomer(rates, { terms: { commits: [commit] } });
    const of = (size: number) => ({ event: { event_type, properties: { user: 'a', size } } });
    expect(await ask(of(20))).toMatchObject({ granted: true, amount: 80, remaining: 20 });
    expect(await ask(of(6))).toMatchObject({ granted: false, required: 24, remaining: 20 });
  });

  test('beside a balance at list rates the higher price is held, whichever pays', async () => {
    const rate = { price: 10, commit_rate: { rate_type: 'FLAT', price: 4 } };
    const { event_type, rates } = await createProduct({ rate });
    const product_id = await createFee();
    const commit = { type: 'PREPAID', product_id, priority: 1, rate_type: 'COMMIT_RATE' };
    const { ask } = await createCustomer(rates, {
      terms: {
        commits: [{ ...commit, access_schedule: access(50) }],
        credits: [{ product_id, priority: 2, access_schedule: access(50) }],
      },
    });
    const event = { event_type, properties: { user: 'a', size: 10 } };
    expect(await ask({ event })).toMatchObject({ granted: true, amount: 100, remaining: 0 });
  });

  test('an override for a balance is held where the balance may pay', async () => {
    const { event_type, product_id, rates } = await createProduct({});
    const fee = await createFee();
    const temporary_id = 'bought';
    const { ask } = await createCustomer(rates, {
      terms: {
        commits: [
          {
            ...{ type: 'PREPAID', product_id: fee, priority: 1, temporary_id },
            access_schedule: access(100),
          },
        ],
        overrides: [
          {
            ...{ starting_at, type: 'MULTIPLIER', multiplier: 0.5, is_commit_specific: true },
            override_specifiers: [{ product_id, commit_ids: [temporary_id] }],
          },
        ],
      },
    });
    const event = { event_type, properties: { user: 'a', size: 20 } };
    expect(await ask({ event })).toMatchObject({ granted: true, amount: 100, remaining: 0 });
  });
});

describe('custom units', () => {
  /** 3 units each, of which one is worth 2.5 cents. */
  async function createInUnit(terms: (unit: string) => Promise<object>) {
    const unit = await createUnit();
    const { event_type, rates } = await createProduct({ rate: { price: 3, credit_type_id: unit } });
    const conversions = [{ custom_credit_type_id: unit, fiat_per_custom_credit: 2.5 }];
    const customer = await createCustomer(rates, { conversions, terms: await terms(unit) });
    const of = (size: number) => ({ event: { event_type, properties: { user: 'a', size } } });
    return { ...customer, unit, of };
  }

  test('a balance in the unit is held in the unit', async () => {
    const { ask, of, unit } = await createInUnit(async (own) => ({
      credits: [{ product_id: await createFee(), priority: 1, access_schedule: access(10, own) }],
    }));
    expect(await ask(of(3))).toMatchObject({ amount: 9, credit_type: { id: unit }, remaining: 1 });
    expect(await ask(of(1))).toMatchObject({ granted: false, required: 3, remaining: 1 });
    expect(await ask({ amount: 1, credit_type_id: unit })).toMatchObject({ granted: true, remaining: 0 });
  });

  test('without one its conversion is held of a balance in the currency', async () => {
    const { ask, of, unit } = await createInUnit(async () => ({
      credits: [{ product_id: await createFee(), priority: 1, access_schedule: access(20) }],
    }));
    expect(await ask(of(2))).toMatchObject({ amount: 15, credit_type: { id: USD_CENTS.id }, remaining: 5 });
    expect(await ask({ amount: 2, credit_type_id: unit })).toMatchObject({
      ...{ granted: true, amount: 5, credit_type: { id: USD_CENTS.id }, remaining: 0 },
    });
    expect(await ask({ amount: 0.1, credit_type_id: unit })).toMatchObject({
      ...{ granted: false, reason: 'balance', required: 0.25, remaining: 0 },
    });
  });
});

describe('amounts', () => {
  test.each([
    ['a balance for everything', {}, 60, { granted: true, remaining: 40 }],
    ['more than it has', {}, 101, { granted: false, reason: 'balance', required: 101, remaining: 100 }],
    [
      'a balance that is limited to something',
      { applicable_product_tags: ['ai'] },
      1,
      { granted: false, reason: 'balance', required: 1, remaining: 0 },
    ],
  ])('of %s', async (_, limits, amount, expected) => {
    const credit = { product_id: await createFee(), priority: 1, access_schedule: access(100), ...limits };
    const { ask } = await createCustomer([], { terms: { credits: [credit] } });
    expect(await ask({ amount, credit_type_id: USD_CENTS.id })).toMatchObject(expected);
  });

  test('an amount in an unknown unit is refused by name, and nothing of its batch is held', async () => {
    const credits = [{ product_id: await createFee(), priority: 1, access_schedule: access(100) }];
    const { customer_id } = await createCustomer([], { terms: { credits } });
    const unknown = '00000000-0000-4000-8000-000000000001';
    const answer = await api.send('POST', '/v1/holds/reserve', {
      holds: [USD_CENTS.id, unknown].map((credit_type_id) => ({
        ...{ customer_id, transaction_id: `${customer_id} ${credit_type_id}`, amount: 1, credit_type_id },
      })),
    });
    expect(answer.status).toBe(400);
    expect((answer.body as { message: string }).message).toMatch(/^holds\[1\]\.credit_type_id: /);
    expect((await api.get('/v1/holds', { query: { customer_id } })).list('data')).toEqual([]);
  });

  test('an amount in a unit that no balance, limit or card of the customer has is unpriced', async () => {
    const unit = await createUnit();
    const credits = [{ product_id: await createFee(), priority: 1, access_schedule: access(100) }];
    const limit = { spend_limit: { amount: 5 } };
    const foreign = FIAT_CREDIT_TYPES.find(({ id }) => id !== USD_CENTS.id)?.id;
    for (const terms of [{}, limit, { credits }]) {
      const { ask } = await createCustomer([], { terms });
      for (const credit_type_id of [unit, foreign]) {
        expect(await ask({ amount: 1, credit_type_id })).toEqual({
          ...{ granted: false, reason: 'unpriced', required: null, remaining: null },
        });
      }
      expect(await ask({ amount: 1, credit_type_id: USD_CENTS.id })).toMatchObject({ granted: true });
    }
  });

  test('a settled amount is billed as its event, and the rest is free', async () => {
    const { event_type, rates } = await createProduct({});
    const credits = [{ product_id: await createFee(), priority: 1, access_schedule: access(100) }];
    const { customer_id, ask } = await createCustomer(rates, { terms: { credits } });
    expect(await ask({ amount: 90, credit_type_id: USD_CENTS.id })).toMatchObject({ granted: true });
    const transaction_id = `${customer_id} 1`;
    const settle = async (more: object) =>
      (await api.post('/v1/holds/settle', { settlements: [{ transaction_id, ...more }] })).list('data');
    expect(await settle({})).toMatchObject([{ error: expect.stringContaining('event_type') }]);
    const properties = { user: 'a', size: 4 };
    expect(await settle({ event_type, properties })).toMatchObject([{ accepted: true, amount: 40 }]);
    expect(await ask({ amount: 60, credit_type_id: USD_CENTS.id })).toMatchObject({
      ...{ granted: true, remaining: 0 },
    });
  });
});

describe('a settlement', () => {
  const settled = async (transaction_id: string, more: object = {}) =>
    (await api.post('/v1/holds/settle', { settlements: [{ transaction_id, ...more }] })).list('data')[0];

  test('a settlement answers the price of the balance that pays, where a hold has the highest', async () => {
    const rate = { price: 10, commit_rate: { rate_type: 'FLAT', price: 4 } };
    const { event_type, rates } = await createProduct({ rate });
    const product_id = await createFee();
    const commit = { type: 'PREPAID', product_id, priority: 1, rate_type: 'COMMIT_RATE' };
    const { customer_id, ask } = await createCustomer(rates, {
      terms: {
        commits: [{ ...commit, access_schedule: access(60) }],
        credits: [{ product_id, priority: 2, access_schedule: access(200) }],
      },
    });
    const event = { event_type, properties: { user: 'a', size: 10 } };
    for (const _ of [1, 2]) expect(await ask({ event })).toMatchObject({ granted: true, amount: 100 });
    // Ten units at 4 of the commit, then five at 4 and five at 10 of the credit.
    expect(await settled(`${customer_id} 1`)).toMatchObject({ accepted: true, amount: 40, exceeded: 0 });
    expect(await settled(`${customer_id} 2`)).toMatchObject({ amount: 70, reason: null });
  });

  test('a settlement counts no holds beside it: they are on no invoice', async () => {
    const tiers = [{ size: 10, price: 5 }, { price: 1 }];
    const { event_type, rates } = await createProduct({
      rate: { rate_type: 'TIERED', tiers, price: undefined },
    });
    const { customer_id, ask } = await createCustomer(rates);
    const event = { event_type, properties: { user: 'a', size: 10 } };
    expect(await ask({ event })).toMatchObject({ amount: 50 });
    expect(await ask({ event })).toMatchObject({ amount: 10 });
    expect(await settled(`${customer_id} 2`)).toMatchObject({ amount: 50, exceeded: 40 });
    expect(await settled(`${customer_id} 1`)).toMatchObject({ amount: 10 });
  });

  test('a settlement that nothing charges costs nothing, and says why', async () => {
    const closed = await createProduct({ rate: { entitled: false } });
    const credits = [{ product_id: await createFee(), priority: 1, access_schedule: access(100) }];
    const { customer_id, ask } = await createCustomer(closed.rates, { terms: { credits } });
    const amount = { amount: 60, credit_type_id: USD_CENTS.id };
    for (const [id, event_type, reason] of [
      [1, closed.event_type, 'not_entitled'],
      [2, 'nothing counts this', 'unpriced'],
    ] as const) {
      expect(await ask(amount)).toMatchObject({ granted: true, remaining: 40 });
      const properties = { user: 'a', size: 4 };
      expect(await settled(`${customer_id} ${id}`, { event_type, properties })).toMatchObject({
        ...{ accepted: true, amount: 0, exceeded: 0, reason },
      });
    }
    const list = await api.get('/v1/holds', { query: { customer_id } });
    expect(list.list('data')).toMatchObject([{ settled_amount: 0 }, { settled_amount: 0 }]);
  });
});

describe('what has no price', () => {
  const properties = { user: 'a', size: 1 };

  test('a product that the contract does not include is not_entitled, and one without a rate unpriced', async () => {
    const closed = await createProduct({ rate: { entitled: false } });
    const unlisted = await createProduct({ rate: null });
    const { ask } = await createCustomer([...closed.rates, ...unlisted.rates]);
    const refused = { granted: false, required: null, remaining: null };
    expect(await ask({ event: { event_type: closed.event_type, properties } })).toEqual({
      ...{ ...refused, reason: 'not_entitled' },
    });
    expect(await ask({ event: { event_type: unlisted.event_type, properties } })).toEqual({
      ...{ ...refused, reason: 'unpriced' },
    });
  });

  test('what is not known ahead is not_priceable: the latest value, nested values, times that are not open', async () => {
    const latest = await createProduct({ metric: { aggregation_type: 'LATEST' } });
    const nested = await createProduct({
      metric: {
        aggregation_key: 'usage.size',
        property_filters: [{ name: 'usage.size', exists: true }],
        group_keys: [],
      },
    });
    const plain = await createProduct({});
    const { ask } = await createCustomer([...latest.rates, ...nested.rates, ...plain.rates]);
    const cases = [
      { event_type: latest.event_type, properties },
      { event_type: nested.event_type, properties: { usage: { size: 1 } } },
      { event_type: plain.event_type, properties, timestamp: '2026-10-20T00:00:00Z' },
    ];
    for (const event of cases) expect(await ask({ event })).toMatchObject({ reason: 'not_priceable' });
    expect(await ask({ event: { event_type: plain.event_type, properties } })).toMatchObject({
      ...{ granted: true, amount: 10 },
    });
  });

  test('a SQL metric or a composite on the card makes every event not_priceable, and an amount can be held', async () => {
    const plain = await createProduct({});
    const sql = await createdId(api, METRICS, {
      ...{ name: 'Events', sql: 'SELECT count(*) AS value FROM events' },
    });
    const counted = await createdId(api, PRODUCTS, { name: 'SQL', type: 'USAGE', billable_metric_id: sql });
    const composite = await createdId(api, PRODUCTS, {
      ...{ name: 'Support', type: 'COMPOSITE', composite_product_ids: [plain.product_id] },
    });
    const common = { entitled: true, starting_at: '2026-01-01T00:00:00Z', price: 0.1 };
    for (const rate of [
      { ...common, rate_type: 'FLAT', product_id: counted },
      { ...common, rate_type: 'PERCENTAGE', product_id: composite },
    ]) {
      const { ask } = await createCustomer([...plain.rates, rate], { terms: { spend_limit: { amount: 5 } } });
      const event = { event_type: plain.event_type, properties };
      expect(await ask({ event })).toMatchObject({ granted: false, reason: 'not_priceable' });
      expect(await ask({ amount: 5, credit_type_id: USD_CENTS.id })).toMatchObject({
        ...{ granted: true, remaining: 0 },
      });
    }
  });
});

describe('alerts that count holds', () => {
  const balance = 'low_remaining_contract_credit_and_commit_balance_reached';
  const spend = 'spend_threshold_reached';

  async function createAlert(customer_id: string, alert_type: string, more: object = {}) {
    const alert = { customer_id, name: 'Alert', alert_type, threshold: 50, ...more };
    const alert_id = await createdId(api, '/v1/alerts/create', alert);
    return async () => {
      const answer = await api.post('/v1/customer-alerts/get', { customer_id, alert_id });
      return [answer.at('data.customer_status'), answer.at('data.alert.count_holds') ?? false];
    };
  }

  test('an alert sees holds as used where it counts them, and otherwise not', async () => {
    const { event_type, rates } = await createProduct({});
    const credits = [{ product_id: await createFee(), priority: 1, access_schedule: access(100) }];
    const { customer_id, ask } = await createCustomer(rates, { terms: { credits } });
    const event = { event_type, properties: { user: 'a', size: 6 } };
    expect(await ask({ event, ttl_seconds: 3600 })).toMatchObject({ granted: true, amount: 60 });
    const alarms = [
      await createAlert(customer_id, balance, { count_holds: true }),
      await createAlert(customer_id, balance),
      await createAlert(customer_id, spend, { count_holds: true }),
      await createAlert(customer_id, spend, { count_holds: false }),
    ];
    const states = () => Promise.all(alarms.map((stateOf) => stateOf()));
    await service.moveClock('2026-11-10T12:40:00Z');
    expect(await states()).toEqual([
      ...[
        ['in_alarm', true],
        ['ok', false],
      ],
      ...[
        ['in_alarm', true],
        ['ok', false],
      ],
    ]);
    await api.post('/v1/holds/release', { holds: [{ transaction_id: `${customer_id} 1` }] });
    await service.moveClock('2026-11-10T12:50:00Z');
    expect((await states()).map(([state]) => state)).toEqual(['ok', 'ok', 'ok', 'ok']);
  });

  test('a grant that brings the value to the threshold is followed by the alarm', async () => {
    const { event_type, rates } = await createProduct({});
    const credits = [{ product_id: await createFee(), priority: 1, access_schedule: access(100) }];
    const { customer_id, ask } = await createCustomer(rates, { terms: { credits } });
    const stateOf = await createAlert(customer_id, balance, { count_holds: true });
    await service.moveClock('2026-11-10T12:50:00Z');
    for (const size of [2, 2]) await ask({ event: { event_type, properties: { user: 'a', size } } });
    expect((await stateOf())[0]).toBe('ok');
    await ask({ event: { event_type, properties: { user: 'a', size: 1 } } });
    expect((await until(stateOf, ([state]) => state === 'in_alarm'))[0]).toBe('in_alarm');
  });

  test.each([
    ['balances of one kind', { alert_type: 'low_remaining_commit_balance_reached' }],
    ['days', { alert_type: 'low_remaining_days_in_plan_reached' }],
    ['filters', { alert_type: spend, group_values: [{ key: 'user', value: 'a' }] }],
  ])('count_holds is refused for alerts of %s', async (_, more) => {
    const alert = { name: 'Alert', threshold: 1, count_holds: true, ...more };
    const answer = await api.send('POST', '/v1/alerts/create', alert);
    expect(answer.status).toBe(400);
    expect((answer.body as { message: string }).message).toMatch(/^count_holds: /);
  });
});
