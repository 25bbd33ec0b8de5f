/** Alerts whose metric, prices or balances change while they are evaluated. */
import { afterAll, expect, test } from 'vitest';
import { evaluateAlerts } from '../../src/billing/alerts/evaluate-alerts.ts';
import { beforeQuery } from '../support/before-query.ts';
import { billingContext } from '../support/billing-context.ts';
import { ADD_RATES, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createThresholdCustomer, type ThresholdCustomer } from '../support/thresholds.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const NOW = '2026-11-10T12:30:00Z';
const service = await serviceForFile({ sandboxNow: NOW });
const { api, db } = service;
const receiver = await startWebhookReceiver();
afterAll(() => receiver.close());
await api.post('/v1/webhooks/create', { name: 'receiver', url: receiver.url });
const fee = await createdId(api, PRODUCTS, { name: 'Credit', type: 'FIXED' });
const starting_at = '2026-11-01T00:00:00Z';

/** Everything is evaluated. */
const settled = () => service.moveClock(NOW);

const counted = await createdId(api, METRICS, {
  ...{ name: 'Uses', aggregation_type: 'COUNT', event_type_filter: { in_values: ['use'] } },
});
const summed = await createdId(api, METRICS, {
  ...{ name: 'Tokens', aggregation_type: 'SUM', aggregation_key: 'tokens' },
  property_filters: [{ name: 'tokens', exists: true }],
  event_type_filter: { in_values: ['use'] },
});

/** A cent for each use, until the product counts tokens. */
async function catalogue() {
  const tokens = await createdId(api, PRODUCTS, {
    ...{ name: 'Tokens', type: 'USAGE', billable_metric_id: counted },
  });
  const card = await createdId(api, RATE_CARDS, { name: 'Card' });
  const rate = { starting_at, entitled: true, rate_type: 'FLAT', price: 1 };
  await api.post(ADD_RATES, { rate_card_id: card, rates: [{ ...rate, product_id: tokens }] });
  const swap = () =>
    api.post('/v1/contract-pricing/products/update', {
      ...{ product_id: tokens, starting_at, billable_metric_id: summed },
    });
  return { fee, tokens, card, swap };
}

/** The types of the messages about an alert. */
const told = (alert: string) =>
  receiver.received.flatMap(({ message: { type, properties } }) =>
    (properties as { alert_id?: string }).alert_id === alert ? [type] : [],
  );
const stateOf = async ({ customerId: customer_id }: ThresholdCustomer, alert_id: string) =>
  (await api.post('/v1/customer-alerts/get', { customer_id, alert_id })).at('data.customer_status');

/** As another process evaluates, with something done before one of its queries. */
async function evaluated(
  { customerId }: ThresholdCustomer,
  at: number,
  then: () => Promise<unknown>,
): Promise<number> {
  const { clickhouse, queries } = beforeQuery(service.clickhouse, at, then);
  const clock = { now: () => Date.parse(NOW) };
  await evaluateAlerts(billingContext({ db, clickhouse, clock }), [customerId]);
  return queries();
}

test('the metric of a product is swapped while its spend is evaluated: the alarm is reported once, when all of it is known', async () => {
  const type = 'spend_threshold_reached';
  let moments = 1;
  for (let moment = 0; moment < moments; moment += 1) {
    const { swap, ...own } = await catalogue();
    const customer = await createThresholdCustomer(api, own, {});
    const { customerId: customer_id } = customer;
    const alert = await createdId(api, '/v1/alerts/create', {
      ...{ alert_type: type, name: 'Spend', threshold: 100, customer_id },
    });
    await settled();
    await customer.use(60, '2026-11-10T12:10:00Z');
    await customer.use(60, '2026-11-10T12:10:00Z');
    await settled();
    moments = await evaluated(customer, moment, swap);
    // The evaluation that had begun before has counted two uses.
    expect(await stateOf(customer, alert)).toBe('ok');
    await settled();
    expect(await stateOf(customer, alert)).toBe('in_alarm');
    await settled();
    await expect.poll(() => told(alert)).toEqual([`alerts.${type}`]);
  }
  expect(moments).toBeGreaterThan(0);
});

test('a metric that is archived while its usage is evaluated is still compared', async () => {
  const metric = await createdId(api, METRICS, {
    ...{ name: 'Used', aggregation_type: 'COUNT', event_type_filter: { in_values: ['use'] } },
  });
  const customer = await createThresholdCustomer(api, await catalogue(), {});
  const { customerId: customer_id } = customer;
  const alert = await createdId(api, '/v1/alerts/create', {
    ...{ alert_type: 'usage_threshold_reached', name: 'Usage', threshold: 2, customer_id },
    billable_metric_id: metric,
  });
  await settled();
  await customer.use(1, '2026-11-10T12:10:00Z');
  await settled();
  const archive = () => api.post('/v1/billable-metrics/archive', { id: metric });
  expect(await evaluated(customer, 0, archive)).toBeGreaterThan(0);
  expect(await stateOf(customer, alert)).toBe('ok');
  await customer.use(1, '2026-11-10T12:10:00Z');
  await settled();
  expect(await stateOf(customer, alert)).toBe('in_alarm');
  await expect.poll(() => told(alert)).toEqual(['alerts.usage_threshold_reached']);
});

test('an alarm that begins and ends while an evaluation takes place is not reported again by it', async () => {
  const type = 'low_remaining_commit_balance_reached';
  const own = await catalogue();
  const commit = (amount: number) => {
    const item = { amount, starting_at, ending_before: '2026-12-01T00:00:00Z' };
    return { product_id: fee, type: 'PREPAID', access_schedule: { schedule_items: [item] } };
  };
  const customer = await createThresholdCustomer(api, own, { commits: [commit(10)] });
  const { customerId: customer_id } = customer;
  const alert = await createdId(api, '/v1/alerts/create', {
    ...{ alert_type: type, name: 'Low', threshold: 9, customer_id },
  });
  await settled();
  const beginAndEnd = async () => {
    await customer.use(1, '2026-11-10T12:10:00Z');
    await settled();
    expect(await stateOf(customer, alert)).toBe('in_alarm');
    await customer.edit({ add_commits: [commit(10)] });
    await settled();
    expect(await stateOf(customer, alert)).toBe('ok');
  };
  expect(await evaluated(customer, 0, beginAndEnd)).toBeGreaterThan(0);
  expect(await stateOf(customer, alert)).toBe('ok');
  await settled();
  await expect.poll(() => told(alert).length).toBeGreaterThan(1);
  expect(told(alert)).toEqual([`alerts.${type}`, `alerts.${type.replace('_reached', '_resolved')}`]);
});
