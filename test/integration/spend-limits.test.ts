/** Spend limits of contracts: their terms, and the holds that they judge. */
import { describe, expect, test } from 'vitest';
import { FIAT_CREDIT_TYPES, USD_CENTS } from '../../src/core/credit-types.ts';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createLimited, reserve } from '../support/holds.ts';
import { createThresholdCustomer } from '../support/thresholds.ts';

const service = await serviceForFile({ usage: 'naive', sandboxNow: '2026-11-10T12:30:00Z' });
const { api } = service;
const EUR = FIAT_CREDIT_TYPES[1]?.id ?? '';

describe('a spend limit as a term', () => {
  test('a spend limit as a term: it is created, shown, changed, taken away, and in the history', async () => {
    const { customerId: customer_id, contractId: contract_id } = await createLimited(api, {
      spend_limit: { amount: 500 },
    });
    const shown = async () =>
      (await api.post('/v2/contracts/get', { customer_id, contract_id })).at('data.spend_limit');
    expect(await shown()).toEqual({ amount: 500, credit_type: USD_CENTS });
    const edit = (spend_limit: object | null) =>
      api.post('/v2/contracts/edit', { customer_id, contract_id, spend_limit });
    await edit({ amount: 0.000000000001, credit_type_id: USD_CENTS.id });
    expect(await shown()).toMatchObject({ amount: 1e-12 });
    await api.post('/v2/contracts/edit', { customer_id, contract_id, update_contract_name: 'Other' });
    expect(await shown()).toMatchObject({ amount: 1e-12 });
    await edit(null);
    expect(await shown()).toBeUndefined();
    const history = await api.post('/v2/contracts/getEditHistory', { customer_id, contract_id });
    expect(history.list('data').map((one) => (one as { spend_limit?: unknown }).spend_limit)).toEqual([
      { amount: 1e-12, credit_type: USD_CENTS },
      undefined,
      null,
    ]);
    const before = { customer_id, contract_id, as_of_date: '2026-11-10T12:30:00Z' };
    expect((await api.post('/v1/contracts/get', before)).at('data.initial.spend_limit')).toMatchObject({
      amount: 500,
    });
  });

  test.each([
    ['less than 0', { amount: -1 }, 'spend_limit.amount: must be at least 0'],
    ['text', { amount: '5' }, /^spend_limit\.amount: /],
    ['no amount', {}, /^spend_limit\.amount: /],
    [
      'an unknown unit',
      { amount: 1, credit_type_id: '7a0a0a0a-0000-4000-8000-000000000000' },
      /^spend_limit\.credit_type_id: .* not found$/,
    ],
    [
      'another currency',
      { amount: 1, credit_type_id: EUR },
      `spend_limit.credit_type_id: must be the currency of the rate card, ${USD_CENTS.id}`,
    ],
    ['a misspelled member', { amount: 1, credit_type: USD_CENTS.id }, /^spend_limit/],
  ])('%s is refused when it is created and edited', async (_, spend_limit, message) => {
    const one = await createLimited(api, {});
    const { customerId: customer_id, contractId: contract_id } = one;
    const created = { customer_id, rate_card_id: one.catalogue.card, starting_at: '2026-11-01T00:00:00Z' };
    const answers = [
      await api.send('POST', '/v2/contracts/edit', { customer_id, contract_id, spend_limit }),
      ...('credit_type' in spend_limit
        ? []
        : [await api.send('POST', CONTRACTS, { ...created, spend_limit })]),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(400);
      const text = (body as { message: string }).message;
      if (typeof message === 'string') expect(text).toBe(message);
      else expect(text).toMatch(message);
    }
    expect((await one.contract()).at('data.spend_limit')).toBeUndefined();
  });

  test('a contract from a package has the limit of the package', async () => {
    const { catalogue } = await createLimited(api, {});
    const customer_id = await createdId(api, '/v1/customers', { name: 'From a package' });
    const terms = { name: 'Limited', rate_card_id: catalogue.card };
    const create = (spend_limit: object) =>
      api.send('POST', '/v1/packages/create', { ...terms, spend_limit });
    expect((await create({ amount: 1, credit_type_id: EUR })).body).toMatchObject({
      message: `spend_limit.credit_type_id: must be the currency of the rate card, ${USD_CENTS.id}`,
    });
    const package_id = ((await create({ amount: 70 })).body as { data: { id: string } }).data.id;
    const shown = await api.post('/v1/packages/get', { package_id });
    expect(shown.at('data.spend_limit')).toEqual({ amount: 70 });
    const contract_id = await createdId(api, CONTRACTS, {
      ...{ customer_id, package_id, starting_at: '2026-11-01T00:00:00Z' },
    });
    const contract = await api.post('/v2/contracts/get', { customer_id, contract_id });
    expect(contract.at('data.spend_limit')).toEqual({ amount: 70, credit_type: USD_CENTS });
  });
});

describe('a spend limit as a judge of holds', () => {
  test('a spend limit as a judge of holds: of a hundred requests at once as many are granted as the limit has room for', async () => {
    const one = await createLimited(api, { spend_limit: { amount: 1000 } });
    await one.use(100, '2026-11-09T12:00:00Z');
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => reserve(api, one.hold(`${one.customerId} ${index}`, 30))),
    );
    const granted = answers.flat().filter((answer) => answer.granted);
    expect(granted).toHaveLength(30);
    expect(answers.flat().find((answer) => !answer.granted)).toEqual({
      ...{ granted: false, reason: 'spend_limit', required: 30, remaining: 0 },
    });
  });

  test('a spend limit as a judge of holds: without a limit everything is granted, and what costs nothing is granted beyond one', async () => {
    const free = await createLimited(api, {});
    expect(await reserve(api, free.hold(`${free.customerId} a`, 1_000_000_000))).toMatchObject([
      { granted: true, remaining: null },
    ]);
    const none = await createLimited(api, { spend_limit: { amount: 0 } });
    await none.use(5, '2026-11-09T12:00:00Z');
    expect(await reserve(api, none.hold(`${none.customerId} a`, 1))).toMatchObject([
      { granted: false, reason: 'spend_limit', required: 1, remaining: 0 },
    ]);
    expect(await reserve(api, none.hold(`${none.customerId} b`, 0))).toMatchObject([
      { granted: true, amount: 0, remaining: 0 },
    ]);
  });

  test('a changed limit counts for the next request after its answer', async () => {
    const one = await createLimited(api, { spend_limit: { amount: 50 } });
    const ask = (name: string, tokens: number) => reserve(api, one.hold(`${one.customerId} ${name}`, tokens));
    expect(await ask('a', 40)).toMatchObject([{ granted: true, remaining: 10 }]);
    expect(await ask('b', 11)).toMatchObject([{ granted: false, remaining: 10 }]);
    await one.edit({ spend_limit: { amount: 51 } });
    expect(await ask('b', 11)).toMatchObject([{ granted: true, remaining: 0 }]);
    await one.edit({ spend_limit: { amount: 20 } });
    expect(await ask('c', 1)).toMatchObject([{ granted: false, reason: 'spend_limit', remaining: 0 }]);
    await one.edit({ spend_limit: null });
    expect(await ask('c', 1)).toMatchObject([{ granted: true, remaining: null }]);
  });

  test('usage that no balance applies to is judged by the limit alone, and balances by themselves', async () => {
    const one = await createLimited(api, {});
    const tagged = await createdId(api, PRODUCTS, { name: 'Only this', type: 'FIXED' });
    const access_schedule = {
      schedule_items: [
        { amount: 100, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-11-01T00:00:00Z' },
      ],
    };
    const credits = [{ product_id: one.catalogue.fee, priority: 1, access_schedule }];
    const spend_limit = { amount: 10 };
    const applicable = [{ ...credits[0], applicable_product_ids: [tagged] }];
    const beside = await createThresholdCustomer(api, one.catalogue, { spend_limit, credits: applicable });
    const hold = (customer_id: string, name: string, tokens: number) =>
      reserve(api, { ...one.hold(`${customer_id} ${name}`, tokens), customer_id });
    expect(await hold(beside.customerId, 'a', 11)).toMatchObject([
      { granted: false, reason: 'spend_limit', remaining: 10 },
    ]);
    const paid = await createThresholdCustomer(api, one.catalogue, { spend_limit, credits });
    expect(await hold(paid.customerId, 'a', 90)).toMatchObject([{ granted: true, remaining: 10 }]);
    expect(await hold(paid.customerId, 'b', 11)).toMatchObject([{ granted: false, reason: 'balance' }]);
    // Usage beyond the balance is charged, and counts for the limit, which holds of a balance do not need.
    await paid.use(20, '2026-11-10T12:00:00Z');
    expect(await hold(paid.customerId, 'c', 1)).toMatchObject([
      { granted: false, reason: 'balance', remaining: 0 },
    ]);
  });

  test('a postpaid commit, subscriptions and charges do not lower what may be spent', async () => {
    const one = await createLimited(api, {});
    const { fee } = one.catalogue;
    const item = { amount: 500, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-11-01T00:00:00Z' };
    const postpaid = {
      ...{ type: 'POSTPAID', product_id: fee, priority: 1 },
      access_schedule: { schedule_items: [item] },
      invoice_schedule: { schedule_items: [{ timestamp: '2027-11-01T00:00:00Z', amount: 500 }] },
    };
    const charge = {
      product_id: fee,
      schedule: { schedule_items: [{ timestamp: '2026-11-20T00:00:00Z', amount: 900 }] },
    };
    const limited = await createThresholdCustomer(api, one.catalogue, {
      ...{ spend_limit: { amount: 100 }, commits: [postpaid], scheduled_charges: [charge] },
    });
    await limited.use(60, '2026-11-09T12:00:00Z');
    const [held] = await reserve(api, {
      ...one.hold(`${limited.customerId} a`, 41),
      customer_id: limited.customerId,
    });
    expect(held).toMatchObject({ granted: false, reason: 'spend_limit', remaining: 40 });
  });

  test('each billing period has the whole limit', async () => {
    const one = await createLimited(api, { spend_limit: { amount: 100 } });
    const ask = (name: string, tokens: number, timestamp: string) =>
      reserve(api, one.hold(`${one.customerId} ${name}`, tokens, { timestamp }));
    expect(await ask('a', 100, '2026-11-10T12:00:00Z')).toMatchObject([{ granted: true, remaining: 0 }]);
    await service.moveClock('2026-12-01T00:00:00Z');
    expect(await ask('b', 100, '2026-12-01T00:00:00Z')).toMatchObject([{ granted: true, remaining: 0 }]);
    expect(await ask('c', 1, '2026-12-01T00:00:00Z')).toMatchObject([{ granted: false, remaining: 0 }]);
    // The hold of November has expired without an event.
    expect(await ask('d', 100, '2026-11-30T23:00:00Z')).toMatchObject([{ granted: true, remaining: 0 }]);
  });

  test('custom units are held, and amounts of them, as their conversion is billed', async () => {
    const custom = await createdId(api, '/v1/credit-types/create', { name: `Points ${Date.now()}` });
    const one = await createLimited(api, {});
    const billable_metric_id = await createdId(api, METRICS, {
      ...{ name: 'Points', aggregation_type: 'COUNT', event_type_filter: { in_values: ['point'] } },
    });
    const product_id = await createdId(api, PRODUCTS, { name: 'Points', type: 'USAGE', billable_metric_id });
    const rate_card_id = await createdId(api, RATE_CARDS, {
      name: 'Points',
      credit_type_conversions: [{ custom_credit_type_id: custom, fiat_per_custom_credit: 2.5 }],
    });
    const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 4 };
    await api.post(ADD_RATES, { rate_card_id, rates: [{ ...rate, product_id, credit_type_id: custom }] });
    const { customerId: customer_id } = await createThresholdCustomer(
      api,
      { ...one.catalogue, card: rate_card_id },
      { spend_limit: { amount: 25 } },
    );
    const event = { event_type: 'point', timestamp: '2026-12-01T00:00:00Z' };
    const ask = (name: string, what: object) =>
      reserve(api, { customer_id, transaction_id: `${customer_id} ${name}`, ...what });
    expect(await ask('a', { event })).toMatchObject([
      { granted: true, amount: 10, credit_type: { id: USD_CENTS.id }, remaining: 15 },
    ]);
    expect(await ask('b', { amount: 4, credit_type_id: custom })).toMatchObject([
      { granted: true, amount: 10, credit_type: { id: USD_CENTS.id }, remaining: 5 },
    ]);
    expect(await ask('c', { event })).toMatchObject([{ granted: false, required: 10, remaining: 5 }]);
    await api.post('/v1/holds/settle', { settlements: [{ transaction_id: `${customer_id} a` }] });
    expect(await ask('d', { amount: 5.01, credit_type_id: USD_CENTS.id })).toMatchObject([
      { granted: false, reason: 'spend_limit', remaining: 5 },
    ]);
  });

  test('a limit of one customer does not judge amounts of others that share balances with it', async () => {
    const item = { amount: 10, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-11-01T00:00:00Z' };
    const access_schedule = { credit_type_id: EUR, schedule_items: [item] };
    const one = await createLimited(api, {});
    const parent = await createThresholdCustomer(api, one.catalogue, {
      credits: [
        {
          ...{ product_id: one.catalogue.fee, priority: 1, access_schedule },
          hierarchy_configuration: { child_access: { type: 'ALL' } },
        },
      ],
    });
    const link = { customer_id: parent.customerId, contract_id: parent.contractId };
    const child = await createThresholdCustomer(api, one.catalogue, {
      ...{ spend_limit: { amount: 0 }, hierarchy_configuration: { parent: link } },
    });
    const ask = (customer_id: string) =>
      reserve(api, {
        ...{ customer_id, transaction_id: `${customer_id} amount`, amount: 7, credit_type_id: USD_CENTS.id },
      });
    expect(await ask(parent.customerId)).toMatchObject([{ granted: true, remaining: null }]);
    expect(
      await reserve(api, { ...one.hold(`${child.customerId} a`, 10), customer_id: child.customerId }),
    ).toMatchObject([{ granted: false, reason: 'spend_limit', remaining: 0 }]);
  });
});
