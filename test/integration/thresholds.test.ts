/** Balances that are recharged, and spend that is billed, as soon as usage crosses the line. */
import fc from 'fast-check';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { evaluateThresholds } from '../../src/billing/thresholds/evaluate-thresholds.ts';
import { createIngest } from '../../src/metering/ingest/ingest.ts';
import { loadThresholdCharges } from '../../src/store/thresholds/threshold-charges.ts';
import { billingContext } from '../support/billing-context.ts';
import { createdId, PRODUCTS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { runs } from '../support/shares-of-tests.ts';
import { createThresholdCatalogue, createThresholdCustomer, topUp, until } from '../support/thresholds.ts';

const NOW = '2026-11-10T12:30:00Z';
const service = await serviceForFile({ sandboxNow: NOW, paymentProvider: 'simulated' });
const { api } = service;
const catalogue = await createThresholdCatalogue(api);
const NOON = '2026-11-10T12:10:00Z';
const RELEASE = '/v1/contracts/commits/threshold-billing/release';

const customerWith = (terms: object) => createThresholdCustomer(api, catalogue, terms);
const recharged = (change: object = {}) =>
  customerWith({ prepaid_balance_threshold_configuration: topUp(catalogue, change) });
const counted =
  (count: number) =>
  ({ granted }: { readonly granted: readonly string[] }) =>
    granted.length === count;
const gate = (payment_gate_type: string) => ({ payment_gate_config: { payment_gate_type } });

/** Everything is evaluated, and the jobs that became due by it are done. */
async function settled(at = NOW): Promise<void> {
  await service.moveClock(at);
  await service.moveClock(at);
}

test('usage that crosses the line is followed by a recharge and its invoice', async () => {
  const customer = await recharged();
  expect(await until(customer.commits, counted(1))).toEqual({ granted: ['5000'], left: '5000' });
  const contract = await customer.contract();
  expect(contract.at('data.commits[0]')).toMatchObject({
    name: 'Top-up',
    priority: 100,
    access_schedule: {
      schedule_items: [
        { starting_at: '2026-11-10T12:00:00.000Z', ending_before: '2100-01-01T00:00:00.000Z' },
      ],
    },
  });
  const invoiced = (count: number) => (rows: string[]) =>
    rows.filter((row) => row.includes('FINALIZED')).length === count;
  // The clock stands still, and what is due at one instant when it is invoiced is on one invoice.
  await until(customer.invoices, invoiced(1));
  await customer.use(3999, NOON);
  await customer.use(1, NOON);
  expect(await until(customer.commits, counted(2))).toEqual({ granted: ['5000', '4000'], left: '5000' });
  expect(await until(customer.invoices, invoiced(2))).toEqual([
    'SCHEDULED FINALIZED 4000',
    'SCHEDULED FINALIZED 5000',
    'USAGE DRAFT 0',
  ]);
});

test('usage of several recharges is followed by one, which pays for all that was not covered', async () => {
  const customer = await recharged();
  await settled();
  await customer.use(17_000, NOON);
  await settled();
  expect(await customer.commits()).toEqual({ granted: ['5000', '17000'], left: '5000' });
  expect(await customer.invoices()).toContain('USAGE DRAFT 0');
});

test('usage before the hour of the recharge is not covered by it', async () => {
  const customer = await recharged();
  await settled();
  await customer.use(7_000, '2026-11-10T11:59:00Z');
  await settled();
  // The first recharge is of the hour from 12:00 on, so it pays for none of it, and stays as it is.
  expect(await customer.commits()).toEqual({ granted: ['5000'], left: '5000' });
  expect(await customer.invoices()).toContain('USAGE DRAFT 7000');
});

test('of several processes that evaluate at once, one recharges', async () => {
  const { db, clickhouse } = service;
  const customer = await recharged({ is_enabled: false });
  await settled();
  await customer.edit({ update_prepaid_balance_threshold_configuration: { is_enabled: true } });
  const context = billingContext({ db, clickhouse, clock: { now: () => Date.parse(NOW) } });
  await Promise.all([1, 2, 3].map(() => evaluateThresholds(context, [customer.customerId])));
  await settled();
  expect(await customer.commits()).toEqual({ granted: ['5000'], left: '5000' });
});

test('of a contract with both thresholds one charge is in flight at most, however many processes evaluate', async () => {
  const { db, clickhouse } = service;
  const customer = await customerWith({
    prepaid_balance_threshold_configuration: topUp(catalogue, gate('EXTERNAL')),
    spend_threshold_configuration: { ...topUp(catalogue, gate('EXTERNAL')), recharge_to_amount: undefined },
  });
  const context = billingContext({ db, clickhouse, clock: { now: () => Date.parse(NOW) } });
  const paid: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    await customer.use(7000, NOON);
    await Promise.all([1, 2, 3].map(() => evaluateThresholds(context, [customer.customerId])));
    await settled();
    const charges = await loadThresholdCharges(db, [customer.contractId]);
    const [workflow_id, ...others] = charges.flatMap((one) => (one.isInFlight ? [one.commitId] : []));
    expect(workflow_id).toBeDefined();
    expect(others).toEqual([]);
    await api.post(RELEASE, { workflow_id, outcome: 'paid' });
    await settled();
    paid.push(String(workflow_id));
  }
  expect(new Set(paid).size).toBe(3);
  expect(await customer.invoices()).toContain('USAGE DRAFT 0');
});

test('whatever happens in whatever order, one charge of a contract is in flight at most, and each is paid or failed once', async () => {
  const { db, clickhouse } = service;
  const context = billingContext({ db, clickhouse, clock: { now: () => Date.parse(NOW) } });
  const threshold = topUp(catalogue, gate('EXTERNAL'));
  const step = fc.oneof(
    fc.record({ kind: fc.constant('use'), tokens: fc.integer({ min: 1, max: 9000 }) }),
    fc.record({ kind: fc.constant('evaluate'), processes: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constant('release'), outcome: fc.constantFrom('paid', 'failed') }),
    fc.record({ kind: fc.constant('edit'), threshold_amount: fc.constantFrom(1000, 2000, 4000) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
      const customer = await customerWith({
        prepaid_balance_threshold_configuration: threshold,
        spend_threshold_configuration: { ...threshold, recharge_to_amount: undefined },
      });
      const inFlight = async () => {
        const charges = await loadThresholdCharges(db, [customer.contractId]);
        return charges.flatMap((one) => (one.isInFlight ? [one.commitId] : []));
      };
      const released = new Map<string, string>();
      for (const one of steps) {
        if ('tokens' in one) await customer.use(one.tokens, NOON);
        if ('threshold_amount' in one) {
          const change = { threshold_amount: one.threshold_amount, is_enabled: true };
          await customer.edit({ update_prepaid_balance_threshold_configuration: change });
        }
        if ('processes' in one) {
          const processes = Array.from({ length: one.processes });
          await Promise.all(processes.map(() => evaluateThresholds(context, [customer.customerId])));
        }
        const [workflow_id, ...others] = await inFlight();
        expect(others).toEqual([]);
        if (!('outcome' in one) || workflow_id === undefined) continue;
        expect(released.has(workflow_id)).toBe(false);
        // Twice at once: the second changes nothing.
        await Promise.all([1, 2].map(() => api.post(RELEASE, { workflow_id, outcome: one.outcome })));
        released.set(workflow_id, one.outcome);
        expect(await inFlight()).not.toContain(workflow_id);
      }
    }),
    { numRuns: runs(9) },
  );
});

test('usage that a process has acknowledged before it was killed is found by the next one', async () => {
  const customer = await recharged();
  await settled();
  const now = Date.parse(NOW);
  const dying = createIngest({
    clickhouse: service.clickhouse,
    clock: { now: () => now },
    windowDays: 34,
    log: pino({ level: 'silent' }),
  });
  await dying.rebuild();
  const event = { transaction_id: 'last words', customer_id: customer.customerId, event_type: 'use' };
  await dying.ingest(
    Buffer.from(JSON.stringify([{ ...event, timestamp: NOON, properties: { tokens: 4500 } }])),
  );
  await dying.close();
  expect(await customer.commits()).toEqual({ granted: ['5000'], left: '500' });
  await service.restart();
  expect(await until(customer.commits, counted(2))).toEqual({ granted: ['5000', '4500'], left: '5000' });
});

test('a charge that is paid elsewhere is released once, and no other is charged before', async () => {
  const customer = await recharged(gate('EXTERNAL'));
  await customer.use(300, NOON);
  await settled();
  expect(await customer.commits()).toEqual({ granted: ['5300'], left: '0' });
  expect(await customer.invoices()).toEqual(['SCHEDULED FINALIZED 5300', 'USAGE DRAFT 300']);
  const workflow_id = (await customer.contract()).text('data.commits[0].id');
  await api.post(RELEASE, { workflow_id, outcome: 'paid' });
  await api.post(RELEASE, { workflow_id, outcome: 'paid' });
  expect((await api.send('POST', RELEASE, { workflow_id, outcome: 'failed' })).status).toBe(400);
  await settled();
  expect(await customer.commits()).toEqual({ granted: ['5300'], left: '5000' });
  expect(await customer.invoices()).toEqual(['SCHEDULED FINALIZED 5300', 'USAGE DRAFT 0']);
});

test('a payment that fails elsewhere voids the invoice and disables the threshold until it is enabled', async () => {
  const customer = await recharged(gate('EXTERNAL'));
  await settled();
  const workflow_id = (await customer.contract()).text('data.commits[0].id');
  await api.post(RELEASE, { workflow_id, outcome: 'failed' });
  await api.post(RELEASE, { workflow_id, outcome: 'failed' });
  const disabled = await customer.contract();
  expect(disabled.at('data.prepaid_balance_threshold_configuration.is_enabled')).toBe(false);
  await customer.use(1, NOON);
  await settled();
  expect(await customer.commits()).toEqual({ granted: ['5000'], left: '0' });
  expect(await customer.invoices()).toEqual(['SCHEDULED VOID 5000', 'USAGE DRAFT 1']);
  await customer.edit({ update_prepaid_balance_threshold_configuration: { is_enabled: true } });
  expect(await until(customer.commits, counted(2))).toEqual({ granted: ['5000', '5001'], left: '0' });
});

test('the simulated provider pays or refuses', async () => {
  const paying = await recharged(gate('STRIPE'));
  const failing = await recharged({ ...gate('STRIPE'), recharge_to_amount: 5002 });
  const isEnabled = async ({ contract }: typeof paying) =>
    (await contract()).at('data.prepaid_balance_threshold_configuration.is_enabled');
  await settled();
  await settled();
  expect(await paying.commits()).toEqual({ granted: ['5000'], left: '5000' });
  expect(await isEnabled(paying)).toBe(true);
  expect(await failing.commits()).toEqual({ granted: ['5002'], left: '0' });
  expect(await failing.invoices()).toEqual(['SCHEDULED VOID 5002', 'USAGE DRAFT 0']);
  expect(await isEnabled(failing)).toBe(false);
});

test('a discount ends at its cap, also inside a recharge, and trackers tell what they have counted', async () => {
  const tracker = {
    alias: 'discounted',
    credit_type_id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2',
    reset_frequency: 'BILLING_PERIOD',
    applicable_spend_specifiers: [
      { spend_type: 'COMMIT_PURCHASE', sources: ['THRESHOLD_RECHARGE'], discounted: 'DISCOUNTED_ONLY' },
    ],
  };
  const cap = { spend_tracker_alias: 'discounted', amount: 3000 };
  const customer = await customerWith({
    spend_trackers: [tracker],
    prepaid_balance_threshold_configuration: topUp(catalogue, {
      discount_configuration: { payment_fraction: 0.5, cap },
    }),
  });
  await settled();
  await customer.use(4000, NOON);
  await settled();
  await customer.use(4000, NOON);
  await settled();
  // 2,500 for 5,000; then 500 for 1,000 and 3,000 for the rest; then the full price.
  expect((await customer.invoices()).slice(0, 3)).toEqual([
    'SCHEDULED FINALIZED 2500',
    'SCHEDULED FINALIZED 3500',
    'SCHEDULED FINALIZED 4000',
  ]);
  expect((await customer.contract()).at('data.spend_trackers[0].accumulated_spend')).toEqual({
    amount: 3000,
    period_starting_at: '2026-11-01T00:00:00.000Z',
    period_ending_before: '2026-12-01T00:00:00.000Z',
  });
});

test('balances of the customer count, except those that the configuration excludes', async () => {
  await api.post('/v1/customFields/addKey', {
    entity: 'contract_credit',
    key: 'kind',
    enforce_uniqueness: false,
  });
  const customer = await customerWith({});
  const credit = (amount: number, custom_fields: object) => ({
    customer_id: customer.customerId,
    priority: 1,
    product_id: catalogue.fee,
    access_schedule: {
      schedule_items: [
        { amount, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-01-01T00:00:00Z' },
      ],
    },
    custom_fields,
  });
  await createdId(api, '/v1/contracts/customerCredits/create', credit(1500, {}));
  await createdId(api, '/v1/contracts/customerCredits/create', credit(9000, { kind: 'gift' }));
  const custom_field_filters = [{ entity: 'ContractCredit', key: 'kind', value: 'gift' }];
  await customer.edit({
    add_prepaid_balance_threshold_configuration: topUp(catalogue, {
      threshold_balance_specifiers: [{ exclude: [{ custom_field_filters }] }],
    }),
  });
  await settled();
  expect((await customer.commits()).granted).toEqual([]);
  await customer.edit({ update_prepaid_balance_threshold_configuration: { threshold_amount: 1500 } });
  await settled();
  expect(await customer.commits()).toEqual({ granted: ['3500'], left: '3500' });
});

test('a threshold in a custom unit grants units and invoices money', async () => {
  const unit = await createdId(api, '/v1/credit-types/create', { name: 'Coins' });
  const card = await createdId(api, '/v1/contract-pricing/rate-cards/create', {
    name: 'Coins',
    credit_type_conversions: [{ custom_credit_type_id: unit, fiat_per_custom_credit: 50 }],
  });
  const customer = await createThresholdCustomer(
    api,
    { ...catalogue, card },
    {
      prepaid_balance_threshold_configuration: topUp(catalogue, {
        custom_credit_type_id: unit,
        threshold_amount: 20,
        recharge_to_amount: 100,
      }),
    },
  );
  await settled();
  expect(await customer.commits()).toEqual({ granted: ['100'], left: '100' });
  expect(await customer.invoices()).toContain('SCHEDULED FINALIZED 5000');
});

test('an archived contract is not charged', async () => {
  const fee = await createdId(api, PRODUCTS, { name: 'Never', type: 'FIXED' });
  const customer = await recharged({ is_enabled: false, commit: { product_id: fee } });
  const { customerId: customer_id, contractId: contract_id } = customer;
  await customer.edit({ update_prepaid_balance_threshold_configuration: { is_enabled: true } });
  await settled();
  await api.post('/v1/contracts/archive', { customer_id, contract_id, void_invoices: false });
  await customer.use(4900, NOON);
  await settled();
  expect((await customer.commits()).granted).toEqual(['5000']);
});

test('spend is what no other balance pays for, and the commit leaves them what they can pay for', async () => {
  const other = await createdId(api, PRODUCTS, { name: 'Other', type: 'FIXED' });
  const customer = await customerWith({
    spend_threshold_configuration: { ...topUp(catalogue), recharge_to_amount: undefined },
    credits: [
      {
        product_id: other,
        priority: 300,
        access_schedule: {
          schedule_items: [
            { amount: 2000, starting_at: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' },
          ],
        },
      },
    ],
  });
  await customer.use(2999, NOON);
  await settled();
  expect((await customer.commits()).granted).toEqual([]);
  await customer.use(1, NOON);
  await settled();
  expect(await customer.commits()).toEqual({ granted: ['1000'], left: '0' });
  expect((await customer.contract()).at('data.commits[0].priority')).toBe(300);
  expect(await customer.invoices()).toEqual(['SCHEDULED FINALIZED 1000', 'USAGE DRAFT 0']);
});

test('spend that reaches the threshold is billed at once, and not again when the period is invoiced', async () => {
  const spend_threshold_configuration = { ...topUp(catalogue), recharge_to_amount: undefined };
  const customer = await customerWith({ spend_threshold_configuration });
  await customer.use(999, '2026-11-02T00:00:00Z');
  await settled();
  expect((await customer.commits()).granted).toEqual([]);
  await customer.use(501, NOON);
  await settled();
  expect(await customer.commits()).toEqual({ granted: ['1500'], left: '0' });
  expect(await customer.invoices()).toEqual(['SCHEDULED FINALIZED 1500', 'USAGE DRAFT 0']);
  await customer.use(400, NOON);
  await service.moveClock('2026-12-01T06:00:00Z');
  await customer.use(70, '2026-11-30T23:00:00Z');
  await service.moveClock('2026-12-03T00:00:00Z');
  expect(await customer.invoices()).toEqual([
    'SCHEDULED FINALIZED 1500',
    'USAGE DRAFT 0',
    'USAGE FINALIZED 470',
  ]);
});
