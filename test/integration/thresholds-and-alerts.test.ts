/** Thresholds and alerts of one customer that the same event crosses, and changes of its contract meanwhile. */
import { afterAll, expect, test } from 'vitest';
import { evaluateAlerts } from '../../src/billing/alerts/evaluate-alerts.ts';
import { evaluateThresholds } from '../../src/billing/thresholds/evaluate-thresholds.ts';
import { billingContext } from '../support/billing-context.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import {
  createThresholdCatalogue,
  createThresholdCustomer,
  type ThresholdCustomer,
  topUp,
  until,
} from '../support/thresholds.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const NOW = '2026-11-10T12:30:00Z';
const NOON = '2026-11-10T12:10:00Z';
const service = await serviceForFile({ sandboxNow: NOW });
const { api, db, clickhouse } = service;
const catalogue = await createThresholdCatalogue(api);
const receiver = await startWebhookReceiver();
afterAll(() => receiver.close());
await api.post('/v1/webhooks/create', { name: 'receiver', url: receiver.url });

/** Everything is evaluated, and the jobs that became due by it are done. */
async function settled(): Promise<void> {
  await service.moveClock(NOW);
  await service.moveClock(NOW);
}

async function alertOf({ customerId: customer_id }: ThresholdCustomer, alert_type: string): Promise<string> {
  const alert = { alert_type, name: alert_type, threshold: 1000, customer_id };
  return createdId(api, '/v1/alerts/create', alert);
}

/** The types of the messages about the alert. */
const told = (alert: string) =>
  receiver.received.flatMap(({ message: { type, properties } }) =>
    (properties as { alert_id?: string }).alert_id === alert ? [type] : [],
  );

test('spend that one event brings to both is charged once and reported once', async () => {
  const spend = { ...topUp(catalogue), recharge_to_amount: undefined };
  const customer = await createThresholdCustomer(api, catalogue, { spend_threshold_configuration: spend });
  const alert = await alertOf(customer, 'spend_threshold_reached');
  await settled();
  await customer.use(1200, NOON);
  const isCharged = ({ granted }: { readonly granted: readonly string[] }) => granted.length === 1;
  expect(await until(customer.commits, isCharged)).toEqual({ granted: ['1200'], left: '0' });
  await expect.poll(() => told(alert)).toEqual(['alerts.spend_threshold_reached']);
  await settled();
  await settled();
  expect(await customer.commits()).toEqual({ granted: ['1200'], left: '0' });
  expect(await customer.invoices()).toEqual(['SCHEDULED FINALIZED 1200', 'USAGE DRAFT 0']);
  expect(told(alert)).toEqual(['alerts.spend_threshold_reached']);
});

test('a balance that one event brings to both is reported once, recharged once, and reported as recovered', async () => {
  const customer = await createThresholdCustomer(api, catalogue, {
    prepaid_balance_threshold_configuration: topUp(catalogue),
  });
  await settled();
  const alert = await alertOf(customer, 'low_remaining_contract_credit_and_commit_balance_reached');
  await settled();
  expect(told(alert)).toEqual([]);
  await customer.use(4500, NOON);
  const isCharged = ({ granted }: { readonly granted: readonly string[] }) => granted.length === 2;
  expect(await until(customer.commits, isCharged)).toEqual({ granted: ['5000', '4500'], left: '5000' });
  const low = 'alerts.low_remaining_contract_credit_and_commit_balance_reached';
  await expect.poll(() => told(alert)).toEqual([low, low.replace('_reached', '_resolved')]);
  await settled();
  expect(told(alert)).toHaveLength(2);
  expect((await customer.commits()).granted).toEqual(['5000', '4500']);
});

/** As another process evaluates. */
const context = billingContext({ db, clickhouse, clock: { now: () => Date.parse(NOW) } });
const reachedAndOver = (type: string) => [
  `alerts.${type}`,
  `alerts.${type.replace('_reached', '_resolved')}`,
];
const stateOf = async ({ customerId: customer_id }: ThresholdCustomer, alert_id: string) =>
  (await api.post('/v1/customer-alerts/get', { customer_id, alert_id })).at('data.customer_status');

test('usage that arrives between the evaluation of an alert and that of a threshold is charged once, and reported in full or not at all', async () => {
  const type = 'low_remaining_contract_credit_and_commit_balance_reached';
  for (let round = 0; round < 4; round += 1) {
    const customer = await createThresholdCustomer(api, catalogue, {
      prepaid_balance_threshold_configuration: topUp(catalogue),
    });
    await settled();
    const alert = await alertOf(customer, type);
    await settled();
    const ids = [customer.customerId];
    await Promise.all([
      evaluateAlerts(context, ids).then(() => evaluateThresholds(context, ids)),
      customer.use(4500, NOON).then(() => evaluateThresholds(context, ids)),
      evaluateAlerts(context, ids),
    ]);
    await settled();
    await settled();
    expect(await customer.commits()).toEqual({ granted: ['5000', '4500'], left: '5000' });
    expect(await stateOf(customer, alert)).toBe('ok');
    await expect.poll(() => told(alert).length % 2).toBe(0);
    expect([[], reachedAndOver(type)]).toContainEqual(told(alert));
  }
});

test('a contract that is edited or archived while its alerts are evaluated leaves the states that its terms give', async () => {
  const spend = 'spend_threshold_reached';
  const balance = 'low_remaining_commit_balance_reached';
  const access_schedule = {
    schedule_items: [
      { amount: 1500, starting_at: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' },
    ],
  };
  const commit = { product_id: catalogue.fee, type: 'PREPAID', access_schedule };
  const change = {
    edit: (customer: ThresholdCustomer) => customer.edit({ add_commits: [commit] }),
    archive: ({ customerId: customer_id, contractId: contract_id }: ThresholdCustomer) =>
      api.post('/v1/contracts/archive', { customer_id, contract_id, void_invoices: false }),
  };
  for (const [kind, type, is] of [
    ['edit', balance, 'ok'],
    ['edit', spend, 'in_alarm'],
    ['archive', spend, 'ok'],
  ] as const) {
    const customer = await createThresholdCustomer(api, catalogue, { commits: [commit] });
    const alert = await alertOf(customer, type);
    await settled();
    const ids = [customer.customerId];
    await customer.use(1200, NOON);
    await Promise.all([
      evaluateAlerts(context, ids),
      change[kind](customer),
      evaluateAlerts(context, ids).then(() => evaluateAlerts(context, ids)),
    ]);
    await settled();
    expect(await stateOf(customer, alert)).toBe(is);
    const wanted = is === 'ok' ? [[], reachedAndOver(type)] : [[`alerts.${type}`]];
    await expect.poll(() => wanted.some((one) => one.length === told(alert).length)).toBe(true);
    expect(wanted).toContainEqual(told(alert));
  }
});

test('exactly at its line each alert of two currencies is reported, of the amounts in its own', async () => {
  const { fee: _, tokens, card } = catalogue;
  const euro = (await api.get('/v1/credit-types/list?limit=100'))
    .list('data')
    .find((one) => (one as { name: string }).name.startsWith('EUR')) as { id: string };
  const rate_card_id = await createdId(api, '/v1/contract-pricing/rate-cards/create', {
    name: 'Euro',
    fiat_credit_type_id: euro.id,
  });
  const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 3 };
  await api.post('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id,
    rates: [{ ...rate, product_id: tokens, credit_type_id: euro.id }],
  });
  const customer = await createThresholdCustomer(api, { ...catalogue, card }, {});
  const customer_id = customer.customerId;
  await createdId(api, '/v1/contracts/create', {
    customer_id,
    rate_card_id,
    starting_at: '2026-11-01T00:00:00Z',
  });
  const spend = { alert_type: 'spend_threshold_reached', name: 'Spend', customer_id };
  const dollars = await createdId(api, '/v1/alerts/create', { ...spend, threshold: 1000 });
  const inEuros = { ...spend, credit_type_id: euro.id };
  const euros = await createdId(api, '/v1/alerts/create', { ...inEuros, threshold: 3000 });
  const both = await createdId(api, '/v1/alerts/create', { ...inEuros, threshold: 3001 });
  await settled();
  await customer.use(999, NOON);
  await settled();
  expect([dollars, euros, both].map((alert) => told(alert).length)).toEqual([0, 0, 0]);
  await customer.use(1, NOON);
  await settled();
  await expect.poll(() => [dollars, euros, both].map((alert) => told(alert).length)).toEqual([1, 1, 0]);
});

// Last: it moves the clock.
test('a new period ends the alarm, and its usage is charged and reported again', async () => {
  const spend = { ...topUp(catalogue), recharge_to_amount: undefined };
  const customer = await createThresholdCustomer(api, catalogue, { spend_threshold_configuration: spend });
  const alert = await alertOf(customer, 'spend_threshold_reached');
  await settled();
  await customer.use(1200, NOON);
  expect((await until(customer.commits, ({ granted }) => granted.length === 1)).granted).toEqual(['1200']);
  await expect.poll(() => told(alert)).toHaveLength(1);
  const [midnight, later] = ['2026-12-01T00:00:00Z', '2026-12-01T01:00:00Z'];
  await service.moveClock(midnight);
  const over = reachedAndOver('spend_threshold_reached');
  await expect.poll(() => told(alert)).toEqual(over);
  expect((await customer.commits()).granted).toEqual(['1200']);
  await service.moveClock(later);
  await customer.use(1100, '2026-12-01T00:30:00Z');
  const isCharged = ({ granted }: { readonly granted: readonly string[] }) => granted.length === 2;
  expect((await until(customer.commits, isCharged)).granted).toEqual(['1200', '1100']);
  await expect.poll(() => told(alert)).toEqual([...over, 'alerts.spend_threshold_reached']);
});
