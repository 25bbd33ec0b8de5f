/** Charges of thresholds whose customer is archived or erased meanwhile, and whose balance is lowered. */
import { describe, expect, test } from 'vitest';
import { SCHEDULED_JOB } from '../../src/billing/invoice-queue/scheduled-jobs.ts';
import { evaluateThresholds } from '../../src/billing/thresholds/evaluate-thresholds.ts';
import { loadCommits } from '../../src/store/balances/commits.ts';
import type { Transaction } from '../../src/store/base/database.ts';
import { lockContract } from '../../src/store/contracts/contracts.ts';
import { listJobKeys } from '../../src/store/jobs/jobs.ts';
import { loadThresholdCharges } from '../../src/store/thresholds/threshold-charges.ts';
import { billingContext } from '../support/billing-context.ts';
import { createCatalogueApi } from '../support/catalogue-api.ts';
import { clickhouseForFile, databaseForFile, serviceForFile } from '../support/file-fixtures.ts';
import {
  createThresholdCatalogue,
  createThresholdCustomer,
  type ThresholdCustomer,
  topUp,
} from '../support/thresholds.ts';
import { waitingForLocks } from '../support/wait-for-lock.ts';

const NOW = '2026-11-10T12:30:00Z';
const NOON = '2026-11-10T12:10:00Z';
const service = await serviceForFile({ sandboxNow: NOW, paymentProvider: 'simulated' });
const { api, db, clickhouse } = service;
const catalogue = await createThresholdCatalogue(api);
const RELEASE = '/v1/contracts/commits/threshold-billing/release';

/** As another process evaluates. */
const context = billingContext({ db, clickhouse, clock: { now: () => Date.parse(NOW) } });
const evaluate = ({ customerId }: ThresholdCustomer) => evaluateThresholds(context, [customerId]);

/** Everything is evaluated, and the work that is due then is done. */
async function settled(at = NOW): Promise<void> {
  await service.moveClock(at);
  await service.moveClock(at);
}

const recharged = (change: object = {}, terms: object = {}) =>
  createThresholdCustomer(api, catalogue, {
    prepaid_balance_threshold_configuration: topUp(catalogue, change),
    ...terms,
  });

/** Total by type and status; of drafts nothing is left. */
const issued = async (customer: ThresholdCustomer) =>
  (await customer.invoices()).filter((row) => !row.includes('DRAFT'));

describe('a customer that is archived while it is charged', async () => {
  // Without jobs, so that the test alone evaluates.
  const { db } = await databaseForFile();
  const clickhouse = await clickhouseForFile();
  const clock = { now: () => Date.parse(NOW) };
  const api = createCatalogueApi(db, { now: clock.now(), clickhouse });
  const catalogue = await createThresholdCatalogue(api);

  test.each(['archiving', 'charge'] as const)(
    'a customer that is archived while it is charged buys nothing that stays, if the %s is first',
    async (first) => {
      const terms = { prepaid_balance_threshold_configuration: topUp(catalogue) };
      const { customerId, contractId } = await createThresholdCustomer(api, catalogue, terms);
      const evaluate = () => evaluateThresholds(billingContext({ db, clickhouse, clock }), [customerId]);
      const both = [() => api.post('/v1/customers/archive', { id: customerId }), evaluate];
      const started: Promise<unknown>[] = [];
      await db.transaction(async (tx) => {
        await lockContract(tx, contractId);
        for (const [index, start] of (first === 'archiving' ? both : both.toReversed()).entries()) {
          started.push(start());
          await expect.poll(() => waitingForLocks(db)).toBe(index + 1);
        }
      });
      await Promise.all(started);
      expect(await loadThresholdCharges(db, [contractId])).toHaveLength(first === 'charge' ? 1 : 0);
      expect(await loadCommits(db, { customerIds: [customerId], includeArchived: false })).toEqual([]);
      const queued = (tx: Transaction) => listJobKeys(tx, SCHEDULED_JOB, { after: null, limit: 10 });
      expect(await db.transaction(queued)).toEqual([]);
      expect(await evaluate()).toEqual([]);
    },
  );
});

test.each(['paid', 'failed'] as const)(
  'a charge in flight of a customer that is erased ends: %s',
  async (outcome) => {
    const customer = await recharged({ payment_gate_config: { payment_gate_type: 'EXTERNAL' } });
    await settled();
    const workflow_id = (await customer.contract()).text('data.commits[0].id');
    expect(await issued(customer)).toEqual(['SCHEDULED FINALIZED 5000']);
    await api.post('/v1/contracts/archive', {
      ...{ customer_id: customer.customerId, contract_id: customer.contractId, void_invoices: false },
    });
    await api.post(`/v1/customers/${customer.customerId}/erase`, {});
    await api.post(RELEASE, { workflow_id, outcome });
    await api.post(RELEASE, { workflow_id, outcome });
    await settled();
    const status = outcome === 'paid' ? 'FINALIZED' : 'VOID';
    expect(await issued(customer)).toEqual([`SCHEDULED ${status} 5000`]);
    const charges = await loadThresholdCharges(db, [customer.contractId]);
    expect(charges.map(({ isInFlight }) => isInFlight)).toEqual([false]);
    expect(await evaluate(customer)).toEqual([]);
  },
);

/** Lowers the first commit. */
async function lower({ contract, edit }: ThresholdCustomer, amount: number): Promise<void> {
  const answer = await contract();
  const at = 'data.commits[0]';
  const id = answer.text(`${at}.access_schedule.schedule_items[0].id`);
  const access_schedule = { update_schedule_items: [{ id, amount }] };
  await edit({ update_commits: [{ commit_id: answer.text(`${at}.id`), access_schedule }] });
}

const withCommit = (amount: number) => ({
  commits: [
    {
      product_id: catalogue.fee,
      type: 'PREPAID',
      access_schedule: {
        schedule_items: [
          { amount, starting_at: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' },
        ],
      },
    },
  ],
});

test('a commit that is lowered below what drafts have used of it is recharged for what it pays for no more', async () => {
  const customer = await recharged({}, withCommit(9000));
  await customer.use(6000, NOON);
  await settled();
  expect(await customer.commits()).toEqual({ granted: ['9000'], left: '3000' });
  await lower(customer, 2000);
  await settled();
  // 4,000 that are covered no more, and 5,000 that are left.
  expect(await customer.commits()).toEqual({ granted: ['2000', '9000'], left: '5000' });
  expect(await customer.invoices()).toContain('USAGE DRAFT 0');
});

test('a commit that is lowered while its recharge is computed is recharged once, for what is due then', async () => {
  for (const order of ['edit first', 'charge first']) {
    const customer = await recharged({ is_enabled: false }, withCommit(6500));
    await customer.use(6000, NOON);
    await settled();
    const change = lower.bind(null, customer, 6000);
    await customer.edit({ update_prepaid_balance_threshold_configuration: { is_enabled: true } });
    const both = [change(), evaluate(customer)];
    await Promise.all(order === 'edit first' ? both : both.toReversed());
    await settled();
    const { granted, left } = await customer.commits();
    expect(granted).toHaveLength(2);
    // The commit had 500 left before it was lowered, and none afterwards.
    expect([`${granted} ${left}`]).toEqual([expect.stringMatching(/^(6000,5000 5000|6000,4500 4500)$/)]);
    expect(await customer.invoices()).toContain('USAGE DRAFT 0');
  }
});
