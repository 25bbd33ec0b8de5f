/** Alerts from usage, balances, invoices and time to the messages that tell of them. */
import Metronome from '@metronome/sdk';
import { eq } from 'drizzle-orm';
import { afterAll, describe, expect, test } from 'vitest';
import { evaluateAlerts } from '../../src/billing/alerts/evaluate-alerts.ts';
import { webhookMessages } from '../../src/store/messages/webhooks.tables.ts';
import { billingContext } from '../support/billing-context.ts';
import { CONTRACTS, createdId, METRICS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { UNKNOWN } from '../support/term-fixtures.ts';
import { createThresholdCatalogue, createThresholdCustomer } from '../support/thresholds.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const NOW = '2026-11-10T12:30:00Z';
const NOON = '2026-11-10T12:10:00Z';
const service = await serviceForFile({ usage: 'naive', sandboxNow: NOW });
const { api, db, usageSource } = service;
const catalogue = await createThresholdCatalogue(api);
const receiver = await startWebhookReceiver();
afterAll(() => receiver.close());
await api.post('/v1/webhooks/create', { name: 'receiver', url: receiver.url });

const ALERTS = '/v1/alerts/create';
const customerWith = (terms: object = {}) => createThresholdCustomer(api, catalogue, terms);
const createAlert = (type: string, threshold: number, more: object = {}) =>
  createdId(api, ALERTS, { alert_type: type, name: `At ${threshold}`, threshold, ...more });

/** The messages about an alert of a customer, in the order of their sending. */
function told(customer_id: string, alert_id: string): Record<string, unknown>[] {
  return receiver.received.flatMap(({ message: { type, properties } }) => {
    const of = properties as Record<string, unknown>;
    return of.customer_id === customer_id && of.alert_id === alert_id ? [{ type, ...of }] : [];
  });
}

const typesTold = (customerId: string, alertId: string) => told(customerId, alertId).map(({ type }) => type);
const stateOf = async (customer_id: string, alert_id: string, more: object = {}) =>
  (await api.post('/v1/customer-alerts/get', { customer_id, alert_id, ...more })).at('data.customer_status');
const becomes = (customerId: string, alertId: string, state: string, more: object = {}) =>
  expect.poll(() => stateOf(customerId, alertId, more)).toBe(state);

/** Everything is evaluated. */
const settled = (at = NOW) => service.moveClock(at);

const access = (amount: number) => ({
  schedule_items: [{ amount, starting_at: '2026-11-01T00:00:00Z', ending_before: '2026-12-20T00:00:00Z' }],
});
const withCommit = (amount: number) => ({
  commits: [{ product_id: catalogue.fee, type: 'PREPAID', access_schedule: access(amount) }],
});

describe('what alerts look at', () => {
  test('spend that reaches its threshold is reported once, with its subject', async () => {
    const { customerId, use } = await customerWith(withCommit(5000));
    const alert = await createAlert('spend_threshold_reached', 1000, { customer_id: customerId });
    await becomes(customerId, alert, 'ok');
    await use(999, NOON);
    await settled();
    expect(told(customerId, alert)).toEqual([]);
    await use(1, NOON);
    await expect.poll(() => told(customerId, alert)).toHaveLength(1);
    expect(told(customerId, alert)).toEqual([
      {
        type: 'alerts.spend_threshold_reached',
        customer_id: customerId,
        alert_id: alert,
        alert_name: 'At 1000',
        timestamp: '2026-11-10T12:30:00.000Z',
        threshold: 1000,
        credit_type_id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2',
        current_spend: 1000,
        invoice_type: 'USAGE',
        triggered_by: 'usage',
      },
    ]);
    await becomes(customerId, alert, 'in_alarm');
    await use(500, NOON);
    await settled();
    expect(told(customerId, alert)).toHaveLength(1);
  });

  test('a balance that usage draws down is reported, and its recovery too', async () => {
    const { customerId, contractId, use } = await customerWith(withCommit(1000));
    const of = { customer_id: customerId };
    const balance = await createAlert('low_remaining_commit_balance_reached', 400, of);
    const percentage = await createAlert('low_remaining_commit_percentage_reached', 40, of);
    const both = await createAlert('low_remaining_contract_credit_and_commit_balance_reached', 399, of);
    const credits = await createAlert('low_remaining_contract_credit_balance_reached', 400, of);
    await use(600, NOON);
    await expect.poll(() => typesTold(customerId, percentage)).toHaveLength(1);
    await expect.poll(() => told(customerId, balance)).toHaveLength(1);
    expect(told(customerId, balance)[0]).toMatchObject({ remaining_balance: 400, threshold: 400 });
    expect(told(customerId, percentage)[0]).toMatchObject({ remaining_percentage: 40 });
    await becomes(customerId, both, 'ok');
    // Without credits there is no balance of credits.
    await becomes(customerId, credits, 'ok');
    await api.post('/v1/contracts/customerCredits/create', {
      customer_id: customerId,
      product_id: catalogue.fee,
      priority: 200,
      access_schedule: access(10),
      applicable_contract_ids: [contractId],
    });
    await expect.poll(() => told(customerId, credits)).toHaveLength(1);
    expect(told(customerId, credits)[0]).toMatchObject({ remaining_balance: 10 });
    await api.post('/v2/contracts/edit', {
      customer_id: customerId,
      contract_id: contractId,
      add_commits: withCommit(2000).commits,
    });
    await expect
      .poll(() => typesTold(customerId, balance))
      .toEqual([
        'alerts.low_remaining_commit_balance_reached',
        'alerts.low_remaining_commit_balance_resolved',
      ]);
  });

  test('balances are compared for each value of a custom field, and a filter names one of them', async () => {
    for (const entity of ['commit', 'contract_credit']) {
      await api.post('/v1/customFields/addKey', { entity, key: 'pool', enforce_uniqueness: false });
    }
    const commitOf = (pool: string, amount: number) => ({
      product_id: catalogue.fee,
      type: 'PREPAID',
      access_schedule: access(amount),
      custom_fields: { pool },
    });
    const { customerId } = await customerWith({ commits: [commitOf('small', 10), commitOf('large', 900)] });
    const filter = { entity: 'ContractCreditOrCommit', key: 'pool' };
    const alert = await createAlert('low_remaining_contract_credit_and_commit_balance_reached', 100, {
      customer_id: customerId,
      alert_specifiers: [{ custom_field_filters: [filter] }],
    });
    await becomes(customerId, alert, 'in_alarm');
    const ofPool = (value: string) =>
      stateOf(customerId, alert, { custom_field_filters: [{ ...filter, value }] });
    expect([await ofPool('small'), await ofPool('large')]).toEqual(['in_alarm', 'ok']);
  });

  test('a single event many times larger than those before is reported at once, however far the threshold was', async () => {
    const { customerId, use } = await customerWith();
    const alert = await createAlert('spend_threshold_reached', 100_000, { customer_id: customerId });
    await becomes(customerId, alert, 'ok');
    // The effect of an event of 10 is learned.
    for (let used = 0; used < 4; used += 1) {
      await use(10, NOON);
      await settled();
    }
    await use(99_960, NOON);
    await expect.poll(() => typesTold(customerId, alert)).toEqual(['alerts.spend_threshold_reached']);
  });

  test('usage of a metric and the total of an invoice are compared', async () => {
    const { customerId, use } = await customerWith();
    const of = { customer_id: customerId };
    const metric = await createdId(api, METRICS, {
      name: 'Uses',
      aggregation_type: 'COUNT',
      event_type_filter: { in_values: ['use'] },
    });
    const usage = await createAlert('usage_threshold_reached', 2, { ...of, billable_metric_id: metric });
    const total = await createAlert('invoice_total_reached', 70, { ...of, invoice_types_filter: ['USAGE'] });
    await use(30, NOON);
    await settled();
    await becomes(customerId, usage, 'ok');
    await use(40, NOON);
    await expect.poll(() => told(customerId, usage)).toHaveLength(1);
    expect(told(customerId, usage)[0]).toMatchObject({ current_usage: 2, billable_metric_id: metric });
    await expect.poll(() => told(customerId, total)).toHaveLength(1);
    expect(told(customerId, total)[0]).toMatchObject({
      invoice_total: 70,
      invoice_type: 'USAGE',
      triggered_by: 'invoice_generation',
    });
  });

  test('spend is compared for each value of a group key', async () => {
    const metric = await createdId(api, METRICS, {
      name: 'By region',
      aggregation_type: 'SUM',
      aggregation_key: 'tokens',
      property_filters: [
        { name: 'tokens', exists: true },
        { name: 'region', exists: true },
      ],
      event_type_filter: { in_values: ['regional'] },
      group_keys: [['region']],
    });
    const product = await createdId(api, '/v1/contract-pricing/products/create', {
      name: 'By region',
      type: 'USAGE',
      billable_metric_id: metric,
      presentation_group_key: ['region'],
    });
    const card = await createdId(api, '/v1/contract-pricing/rate-cards/create', { name: 'Regions' });
    const rate = {
      product_id: product,
      starting_at: '2026-01-01T00:00:00Z',
      entitled: true,
      rate_type: 'FLAT',
      price: 1,
    };
    await api.post('/v1/contract-pricing/rate-cards/addRates', { rate_card_id: card, rates: [rate] });
    const customer_id = await createdId(api, '/v1/customers', { name: 'Regional' });
    await createdId(api, CONTRACTS, { customer_id, rate_card_id: card, starting_at: '2026-11-01T00:00:00Z' });
    const alert = await createAlert('spend_threshold_reached', 10, {
      customer_id,
      group_values: [{ key: 'region' }],
    });
    const event = (region: string, tokens: number) => ({
      transaction_id: `${customer_id}-${region}`,
      customer_id,
      event_type: 'regional',
      timestamp: NOON,
      properties: { region, tokens },
    });
    await api.post('/v1/ingest', [event('eu', 10), event('us', 9)]);
    await expect.poll(() => told(customer_id, alert)).toHaveLength(1);
    expect(told(customer_id, alert)[0]).toMatchObject({
      current_spend: 10,
      group_values: [{ key: 'region', value: 'eu' }],
    });
    const at = (value: string) => stateOf(customer_id, alert, { group_values: [{ key: 'region', value }] });
    expect([await at('eu'), await at('us'), await stateOf(customer_id, alert)]).toEqual([
      'in_alarm',
      'ok',
      'in_alarm',
    ]);
  });
});

describe('states', () => {
  test('the state of an alert: of two processes that find a threshold crossed at once, one tells', async () => {
    const { customerId, use } = await customerWith();
    await use(2000, NOON);
    const alert = await createAlert('spend_threshold_reached', 1000, { customer_id: customerId });
    const context = billingContext({ db, usageSource, clock: { now: () => Date.parse(NOW) } });
    await Promise.all(Array.from({ length: 4 }, () => evaluateAlerts(context, [customerId])));
    await becomes(customerId, alert, 'in_alarm');
    await settled();
    const stored = db.select().from(webhookMessages).where(eq(webhookMessages.customerId, customerId));
    expect(await stored).toMatchObject([{ type: 'alerts.spend_threshold_reached' }]);
  });

  test('an alert of all customers is evaluated for those that come later; without evaluate_on_create others must recover', async () => {
    const early = await customerWith();
    await early.use(3000, NOON);
    const alert = await createAlert('spend_threshold_reached', 2999, { evaluate_on_create: false });
    const late = await customerWith();
    await becomes(late.customerId, alert, 'ok');
    await late.use(3000, NOON);
    await becomes(early.customerId, alert, 'in_alarm');
    await expect.poll(() => typesTold(late.customerId, alert)).toHaveLength(1);
    await settled();
    expect(told(early.customerId, alert)).toEqual([]);
    await api.post('/v1/alerts/archive', { id: alert });
    expect(await stateOf(late.customerId, alert)).toBeNull();
  });

  test('a reset alert is reported again', async () => {
    const { customerId, use } = await customerWith();
    await use(2000, NOON);
    const alert = await createAlert('spend_threshold_reached', 1000, {
      customer_id: customerId,
      evaluate_on_create: false,
    });
    await becomes(customerId, alert, 'in_alarm');
    const reset = await api.post('/v1/customer-alerts/reset', { customer_id: customerId, alert_id: alert });
    expect(reset.body).toBeUndefined();
    await expect.poll(() => told(customerId, alert)).toHaveLength(1);
  });
});

describe('operations', () => {
  const spend = { alert_type: 'spend_threshold_reached', name: 'Spend', threshold: 10 };

  test('a uniqueness key is used once, until an archived alert releases it', async () => {
    const { customerId: customer_id } = await customerWith();
    const body = { ...spend, customer_id, uniqueness_key: `key of ${customer_id}` };
    const id = await createdId(api, ALERTS, body);
    const again = await api.send('POST', ALERTS, body);
    expect([again.status, again.body]).toEqual([
      409,
      {
        message: 'This uniqueness key has already been used.',
        conflicting_id: id,
        conflicting_value: body.uniqueness_key,
      },
    ]);
    await api.post('/v1/alerts/archive', { id });
    expect((await api.send('POST', ALERTS, body)).status).toBe(409);
    const twice = await api.send('POST', '/v1/alerts/archive', { id });
    expect([twice.status, twice.at('message')]).toEqual([400, 'Alert already archived']);
    const other = await createdId(api, ALERTS, { ...body, uniqueness_key: `other of ${customer_id}` });
    await api.post('/v1/alerts/archive', { id: other, release_uniqueness_key: true });
    await createdId(api, ALERTS, { ...body, uniqueness_key: `other of ${customer_id}` });
    const archived = await api.post('/v1/customer-alerts/list', {
      customer_id,
      alert_statuses: ['archived'],
    });
    const own = archived.list('data').filter((_, at) => archived.at(`data[${at}].alert.id`) === id);
    expect(own).toMatchObject([
      { customer_status: null, alert: { status: 'archived', uniqueness_key: body.uniqueness_key } },
    ]);
  });

  test('the official client creates, reads, lists, resets and archives them', async () => {
    const { customerId: customer_id, use } = await customerWith();
    const { v1 } = new Metronome({ baseURL: service.url, bearerToken: service.token, maxRetries: 0 });
    const { data: created } = await v1.alerts.create({
      alert_type: 'spend_threshold_reached',
      name: 'By model',
      threshold: 500,
      customer_id,
      group_values: [{ key: 'model', value: 'large' }],
      uniqueness_key: `model of ${customer_id}`,
    });
    await use(1000, NOON);
    await becomes(customer_id, created.id, 'ok');
    const { data: read } = await v1.customers.alerts.retrieve({ customer_id, alert_id: created.id });
    expect(read).toEqual({
      customer_status: 'ok',
      triggered_by: null,
      alert: {
        id: created.id,
        name: 'By model',
        type: 'spend_threshold_reached',
        status: 'enabled',
        threshold: 500,
        credit_type: { id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2', name: 'USD (cents)' },
        group_key_filter: { key: 'model', value: 'large' },
        group_values: [{ key: 'model', value: 'large' }],
        uniqueness_key: `model of ${customer_id}`,
        updated_at: '2026-11-10T12:30:00.000Z',
      },
    });
    const listed: string[] = [];
    for await (const one of v1.customers.alerts.list({ customer_id })) listed.push(one.alert.id);
    expect(listed).toContain(created.id);
    await v1.customers.alerts.reset({ customer_id, alert_id: created.id });
    await v1.alerts.archive({ id: created.id, release_uniqueness_key: true });
    const { data: archived } = await v1.customers.alerts.retrieve({ customer_id, alert_id: created.id });
    expect([archived.customer_status, archived.alert.status]).toEqual([null, 'archived']);
  });

  test('an alert has custom fields, which are shown with it', async () => {
    const { customerId: customer_id } = await customerWith();
    const alert_id = await createdId(api, ALERTS, { ...spend, customer_id });
    const fields = '/v1/customFields';
    await api.post(`${fields}/addKey`, { entity: 'alert', key: 'team', enforce_uniqueness: false });
    const of = { entity: 'alert', entity_id: alert_id };
    await api.post(`${fields}/setValues`, { ...of, custom_fields: { team: 'red' } });
    const shown = async () =>
      (await api.post('/v1/customer-alerts/get', { customer_id, alert_id })).at('data.alert.custom_fields');
    expect(await shown()).toEqual({ team: 'red' });
    const { body } = await api.post('/v1/customer-alerts/list', { customer_id });
    const listed = (body as { data: { alert: { id: string; custom_fields?: object } }[] }).data;
    const own = listed.find(({ alert }) => alert.id === alert_id);
    expect(own?.alert.custom_fields).toEqual({ team: 'red' });
    await api.post(`${fields}/deleteValues`, { ...of, keys: ['team'] });
    expect(await shown()).toBeUndefined();
    const unknown = { entity: 'alert', entity_id: UNKNOWN, custom_fields: { team: 'red' } };
    expect((await api.send('POST', `${fields}/setValues`, unknown)).status).toBe(404);
  });

  test('a list has the pages of the alerts of a customer and of all', async () => {
    const { customerId: customer_id } = await customerWith();
    const ids: string[] = [];
    for (let made = 0; made < 101; made += 1) {
      ids.push(await createdId(api, ALERTS, { ...spend, customer_id, threshold: 1000 + made }));
    }
    const first = await api.post('/v1/customer-alerts/list', { customer_id });
    const next_page = first.text('next_page');
    const second = await api.post('/v1/customer-alerts/list', { customer_id }, { query: { next_page } });
    const listed = [first, second].flatMap((page) =>
      page.list('data').map((_, at) => page.text(`data[${at}].alert.id`)),
    );
    expect(listed.filter((id) => ids.includes(id)).toSorted()).toEqual(ids.toSorted());
    expect(second.at('next_page')).toBeNull();
  });

  test.each([
    ['an unknown type', { alert_type: 'high_tide' }, 400, /alert_type/],
    ['an unknown member', { colour: 'red' }, 400, /colour/],
    ['no metric', { alert_type: 'usage_threshold_reached' }, 400, /^billable_metric_id: is required/],
    [
      'no seat filter',
      { alert_type: 'low_remaining_seat_balance_reached' },
      400,
      /^seat_filter: is required/,
    ],
    [
      'a filter of another type',
      { invoice_types_filter: ['USAGE'] },
      400,
      /^invoice_types_filter: is not for/,
    ],
    [
      'two open keys',
      { group_values: [{ key: 'a' }, { key: 'b' }] },
      400,
      /^group_values: must have at most one/,
    ],
    [
      'fields of commits for spend',
      { custom_field_filters: [{ entity: 'Commit', key: 'a', value: 'b' }] },
      400,
      /^custom_field_filters\[0\].entity: must be Contract/,
    ],
    ['an unknown unit', { credit_type_id: '00000000-0000-4000-8000-000000000000' }, 400, /^credit_type_id:/],
    ['an unknown customer', { customer_id: '00000000-0000-4000-8000-000000000000' }, 404, /not found/],
    ['a negative threshold', { threshold: -1 }, 400, /^threshold: must be at least 0/],
  ])('%s is refused', async (_, change, status, message) => {
    const answer = await api.send('POST', ALERTS, { ...spend, ...change });
    expect([answer.status, answer.text('message')]).toEqual([status, expect.stringMatching(message)]);
  });

  test('the alert of another customer and unknown ones are not found', async () => {
    const [one, other] = [await customerWith(), await customerWith()];
    const alert = await createdId(api, ALERTS, { ...spend, customer_id: one.customerId });
    const unknown = '00000000-0000-4000-8000-000000000000';
    for (const path of ['/v1/customer-alerts/get', '/v1/customer-alerts/reset']) {
      for (const [customer_id, alert_id] of [
        [other.customerId, alert],
        [unknown, alert],
        [one.customerId, unknown],
      ])
        expect((await api.send('POST', path, { customer_id, alert_id })).status).toBe(404);
    }
    expect((await api.send('POST', '/v1/alerts/archive', { id: unknown })).status).toBe(404);
  });
});

// Last: it moves the clock.
test('a new period ends alarms of spend, and days are reported as they pass', async () => {
  const { customerId, use } = await customerWith(withCommit(100));
  const of = { customer_id: customerId };
  const spend = await createAlert('spend_threshold_reached', 1000, of);
  const days = await createAlert('low_remaining_days_for_commit_segment_reached', 10, of);
  await use(1000, NOON);
  await expect.poll(() => typesTold(customerId, spend)).toHaveLength(1);
  await becomes(customerId, days, 'ok');
  await settled('2026-12-01T00:00:00Z');
  await expect
    .poll(() => typesTold(customerId, spend))
    .toEqual(['alerts.spend_threshold_reached', 'alerts.spend_threshold_resolved']);
  await settled('2026-12-10T00:00:00Z');
  await expect.poll(() => told(customerId, days)).toHaveLength(1);
  expect(told(customerId, days)[0]).toMatchObject({ remaining_days: 10, threshold: 10 });
});
