/** Auto top-ups that count holds as used, and what they leave as it is. */
import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { reserve } from '../support/holds.ts';
import {
  createThresholdCatalogue,
  createThresholdCustomer,
  type ThresholdCustomer,
  topUp,
  until,
} from '../support/thresholds.ts';

const NOW = '2026-11-10T12:30:00Z';
const NOON = '2026-11-10T12:10:00Z';
const service = await serviceForFile({ sandboxNow: NOW, paymentProvider: 'simulated' });
const { api, db } = service;
const catalogue = await createThresholdCatalogue(api);

/** Everything is evaluated. */
const settled = () => service.moveClock(NOW);

/** Recharges to 5,000 at 1,000, and has 2,900 left of 5,000. */
async function recharged(change: object = {}): Promise<ThresholdCustomer> {
  const prepaid = topUp(catalogue, { count_holds: true, ...change });
  const terms = { prepaid_balance_threshold_configuration: prepaid };
  const customer = await createThresholdCustomer(api, catalogue, terms);
  await until(customer.commits, ({ granted }) => granted.length === 1);
  await customer.use(2100, NOON);
  expect(await customer.commits()).toEqual({ granted: ['5000'], left: '2900' });
  return customer;
}

/** Returns the transaction of the hold. */
async function hold({ customerId: customer_id }: ThresholdCustomer, tokens: number, more: object = {}) {
  const transaction_id = randomUUID();
  const event = { event_type: 'use', properties: { tokens }, timestamp: NOON };
  const [answer] = await reserve(api, { customer_id, transaction_id, event, ...more });
  expect(answer).toMatchObject({ granted: true });
  return transaction_id;
}

describe('a top-up that counts holds', () => {
  test('a grant alone is followed by it, up to the configured level, and given-up holds leave the balance there', async () => {
    const customer = await recharged();
    const held = [await hold(customer, 1500), await hold(customer, 399)];
    await settled();
    expect((await customer.commits()).granted).toEqual(['5000']);
    held.push(await hold(customer, 1));
    const after = await until(customer.commits, ({ granted }) => granted.length === 2);
    expect(after).toEqual({ granted: ['5000', '2100'], left: '5000' });
    await api.post('/v1/holds/release', { holds: held.map((transaction_id) => ({ transaction_id })) });
    await settled();
    expect(await customer.commits()).toEqual({ granted: ['5000', '2100'], left: '5000' });
  });

  test('the events of the holds that caused it cause no second one', async () => {
    const customer = await recharged();
    const held = [await hold(customer, 1500), await hold(customer, 400)];
    await until(customer.commits, ({ granted }) => granted.length === 2);
    await api.post('/v1/holds/settle', { settlements: held.map((transaction_id) => ({ transaction_id })) });
    await settled();
    expect(await customer.commits()).toEqual({ granted: ['5000', '2100'], left: '3100' });
  });

  test('an event counts once while its hold is still active', async () => {
    const customer = await recharged();
    const transaction_id = await hold(customer, 1000);
    await api.post('/v1/holds/settle', { settlements: [{ transaction_id }] });
    // As after a kill between the event and its mark: counted twice they would bring 1,900 below the line of 2,000.
    await db.execute(sql`update holds set status = 'active' where transaction_id = ${transaction_id}`);
    await settled();
    expect(await customer.commits()).toEqual({ granted: ['5000'], left: '1900' });
  });

  test('holds raise the line to the middle of both levels at most', async () => {
    const customer = await createThresholdCustomer(api, catalogue, {
      prepaid_balance_threshold_configuration: topUp(catalogue, { count_holds: true }),
    });
    await until(customer.commits, ({ granted }) => granted.length === 1);
    await hold(customer, 2500);
    await customer.use(1999, NOON);
    await settled();
    expect(await customer.commits()).toEqual({ granted: ['5000'], left: '3001' });
    await customer.use(1, NOON);
    await settled();
    expect(await customer.commits()).toEqual({ granted: ['5000', '2000'], left: '5000' });
  });

  test('without the flag holds do not count, and with it those do not that no balance pays for', async () => {
    const plain = await recharged({ count_holds: false });
    await hold(plain, 2900);
    const limited = await recharged({
      commit: { product_id: catalogue.fee, applicable_product_ids: [catalogue.tokens] },
    });
    await addImages();
    const image = { event_type: 'image', properties: {}, timestamp: NOON };
    await hold(limited, 0, { event: image });
    await settled();
    expect((await plain.commits()).granted).toEqual(['5000']);
    expect((await limited.commits()).granted).toEqual(['5000']);
  });

  test("what children hold of a parent's shared balance counts for the parent", async () => {
    const access = {
      amount: 2500,
      starting_at: '2026-11-01T00:00:00Z',
      ending_before: '2027-01-01T00:00:00Z',
    };
    const parent = await createThresholdCustomer(api, catalogue, {
      credits: [
        {
          product_id: catalogue.fee,
          access_schedule: { schedule_items: [access] },
          hierarchy_configuration: { child_access: { type: 'ALL' } },
        },
      ],
      prepaid_balance_threshold_configuration: topUp(catalogue, { count_holds: true }),
    });
    const { customerId: customer_id, contractId: contract_id } = parent;
    const child = await createThresholdCustomer(api, catalogue, {
      hierarchy_configuration: { parent: { customer_id, contract_id } },
    });
    await hold(child, 1499);
    await settled();
    expect((await parent.commits()).granted).toEqual([]);
    await hold(child, 1);
    await settled();
    expect((await parent.commits()).granted).toEqual(['2500']);
  });
});

/** At 2,500 cents each, on the card of all customers here. */
async function addImages(): Promise<void> {
  const billable_metric_id = await createdId(api, '/v1/billable-metrics/create', {
    ...{ name: 'Images', aggregation_type: 'COUNT', event_type_filter: { in_values: ['image'] } },
  });
  const images = { name: 'Images', type: 'USAGE', billable_metric_id };
  const product_id = await createdId(api, '/v1/contract-pricing/products/create', images);
  const rate = { product_id, starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT' };
  await api.post('/v1/contract-pricing/rate-cards/addRates', {
    ...{ rate_card_id: catalogue.card, rates: [{ ...rate, price: 2500 }] },
  });
}

describe('count_holds as a term', () => {
  test('it is created, shown, changed, kept by other edits, in the history, and taken over from a package', async () => {
    const prepaid_balance_threshold_configuration = topUp(catalogue, {
      count_holds: true,
      is_enabled: false,
    });
    const customer = await createThresholdCustomer(api, catalogue, {
      prepaid_balance_threshold_configuration,
    });
    const { customerId: customer_id, contractId: contract_id } = customer;
    const at = 'prepaid_balance_threshold_configuration.count_holds';
    const shown = async () => (await customer.contract()).at(`data.${at}`);
    const update = (change: object) =>
      customer.edit({ update_prepaid_balance_threshold_configuration: change });
    expect(await shown()).toBe(true);
    await update({ threshold_amount: 1500 });
    await update({ count_holds: null });
    expect(await shown()).toBe(true);
    await update({ count_holds: false });
    expect(await shown()).toBeUndefined();
    await update({ count_holds: true });
    expect(await shown()).toBe(true);
    const history = await api.post('/v2/contracts/getEditHistory', { customer_id, contract_id });
    expect(history.list('data').map((edit) => JSON.stringify(edit).match(/"count_holds":\w+/)?.[0])).toEqual([
      ...[undefined, undefined, '"count_holds":false', '"count_holds":true'],
    ]);
    const first = await api.post('/v1/contracts/get', { customer_id, contract_id });
    expect(first.at(`data.current.${at}`)).toBe(true);

    const terms = { name: 'Counting', rate_card_id: catalogue.card, prepaid_balance_threshold_configuration };
    const package_id = await createdId(api, '/v1/packages/create', terms);
    expect((await api.post('/v1/packages/get', { package_id })).at(`data.${at}`)).toBe(true);
    const created = { customer_id, package_id, starting_at: '2026-11-01T00:00:00Z' };
    const from_package = await createdId(api, '/v1/contracts/create', created);
    const contract = await api.post('/v2/contracts/get', { customer_id, contract_id: from_package });
    expect(contract.at(`data.${at}`)).toBe(true);
  });

  test('it is refused for spend, which is charged only when it has happened', async () => {
    const { recharge_to_amount: _, ...spend } = topUp(catalogue);
    const customer = await createThresholdCustomer(api, catalogue, {
      spend_threshold_configuration: { ...spend, count_holds: false, is_enabled: false },
    });
    const { customerId: customer_id, contractId: contract_id } = customer;
    const counting = { ...spend, count_holds: true };
    const contract = { customer_id, rate_card_id: catalogue.card, starting_at: '2026-11-01T00:00:00Z' };
    const edit = { customer_id, contract_id };
    const requests = [
      ['/v1/contracts/create', { ...contract, spend_threshold_configuration: counting }],
      [
        '/v1/packages/create',
        { name: 'Spend', rate_card_id: catalogue.card, spend_threshold_configuration: counting },
      ],
      ['/v2/contracts/edit', { ...edit, add_spend_threshold_configuration: counting }],
      ['/v2/contracts/edit', { ...edit, update_spend_threshold_configuration: { count_holds: true } }],
    ] as const;
    for (const [path, body] of requests) {
      const { status, body: answer } = await api.send('POST', path, body);
      expect(status).toBe(400);
      expect((answer as { message: string }).message).toMatch(
        /spend_threshold_configuration\.count_holds: is not possible here/,
      );
    }
  });
});
