/** Processes that issue the invoices of a family at the same time, and invoices of a family that are issued out of order. */
import { setTimeout as pause } from 'node:timers/promises';
import { and, eq } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { FINALIZATION_JOB } from '../../src/billing/invoice-queue/finalization.ts';
import { SCHEDULED_JOB } from '../../src/billing/invoice-queue/scheduled-jobs.ts';
import { finalizationJobKind, scheduledInvoicesJobKind } from '../../src/jobs/invoice-jobs.ts';
import { createJobRunner } from '../../src/jobs/job-runner.ts';
import { balanceDeductions, invoices } from '../../src/store/invoices/invoices.tables.ts';
import { jobs } from '../../src/store/jobs/jobs.tables.ts';
import type { Job } from '../../src/store/jobs/jobs.ts';
import { billingContext, jobsContext } from '../support/billing-context.ts';
import { ADD_RATES, createdId, PRODUCTS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createHierarchy, type Hierarchy, type Member, request } from '../support/hierarchies.ts';
import { ALL, APART, balances, bills, commitProduct, prepaid } from '../support/shared-balances.ts';
import { runs } from '../support/shares-of-tests.ts';

/** Its clock stands in the period, so its own runner finalizes nothing. */
const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api, db, clickhouse } = service;
const clock = { now: () => Date.UTC(2026, 11, 3) };
afterAll(async () => {
  await db.delete(jobs);
});

/** Runs jobs as a separate process would. */
function runner() {
  const kind = finalizationJobKind(jobsContext({ db, clock, clickhouse }));
  const ping = () => clickhouse.ping();
  return createJobRunner(jobsContext({ db, clock, ping }), [kind]);
}

const NOVEMBER = { starting_at: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };
const product = await commitProduct(api);

/** The parent uses 30 cents and each of four children 40, of 100 that are shared. */
async function family(): Promise<Hierarchy> {
  const hierarchy = await createHierarchy(api, {
    ...{ startingAt: NOVEMBER.starting_at, endingBefore: NOVEMBER.ending_before },
    parent: { hierarchy_configuration: undefined, commits: [prepaid(product, 100, NOVEMBER, ALL)] },
    children: Object.fromEntries(
      [2, 3, 4, 5].map((day) => [`child-${day}`, { ...APART, starting_at: `2026-11-0${day}T00:00:00Z` }]),
    ),
  });
  await request(api, hierarchy.parent, 15, '2026-11-07T00:00:00Z');
  for (const child of Object.values(hierarchy.children))
    await request(api, child, 20, '2026-11-07T00:00:00Z');
  return hierarchy;
}

/** The amount that each invoice of the family pays, in the order of drawdown. */
async function paid({ parent, children }: Hierarchy): Promise<string[]> {
  return (await Promise.all([parent, ...Object.values(children)].map((one) => bills(api, one)))).flat();
}

const EXPECTED = [
  'FINALIZED 2026-11 pays 0, covered 30',
  'FINALIZED 2026-11 pays 0, covered 40',
  'FINALIZED 2026-11 pays 10, covered 30',
  'FINALIZED 2026-11 pays 40, covered 0',
  'FINALIZED 2026-11 pays 40, covered 0',
];

const jobOf = ({ contractId }: Member) => and(eq(jobs.kind, FINALIZATION_JOB), eq(jobs.subject, contractId));

test('a shared balance is spent once and in order, regardless of who issues the invoices', async () => {
  for (let round = 0; round < runs(6); round += 1) {
    await db.delete(jobs);
    const hierarchy = await family();
    const processes = [runner(), runner(), runner()];
    const outcomes = await Promise.all(processes.map((one) => one.runDue(clock.now())));
    for (const one of processes) expect((await one.retryFailed(clock.now())).failed).toBe(0);
    expect(outcomes.map(({ failed }) => failed)).toEqual([0, 0, 0]);
    expect(await paid(hierarchy)).toEqual(EXPECTED);
  }
}, 240_000);

test('of two children whose invoices are computed at once, the second waits for the first and is computed again', async () => {
  await db.delete(jobs);
  const hierarchy = await family();
  const [one, other] = Object.values(hierarchy.children);
  if (one === undefined || other === undefined) throw new Error('there are two children');
  const kind = finalizationJobKind(jobsContext({ db, clock, clickhouse }));
  const dueOf = async (child: Member): Promise<Job[]> => {
    const [row] = await db.select().from(jobs).where(jobOf(child));
    if (row === undefined) throw new Error('the child has a job');
    return [{ ...row, payload: row.payload as Job['payload'] }];
  };
  const [dueOne, dueOther] = [await dueOf(one), await dueOf(other)];
  const prepare = (due: readonly Job[]) => kind.prepare(due, async (ahead, work) => work(await ahead()));
  const [preparedOne, preparedOther] = [await prepare(dueOne), await prepare(dueOther)];
  const order: string[] = [];
  let second: Promise<readonly Job[]> = Promise.resolve([]);
  await db.transaction(async (tx) => {
    expect(await preparedOne.stillValid(tx, dueOne)).toHaveLength(1);
    second = db.transaction(async (later) => {
      const valid = await preparedOther.stillValid(later, dueOther);
      order.push('second');
      return valid;
    });
    await pause(300);
    await preparedOne.write(tx, dueOne);
    order.push('first');
  });
  expect(await second).toEqual([]);
  expect(order).toEqual(['first', 'second']);
  await db.delete(jobs).where(jobOf(one));
  expect((await runner().runDue(clock.now())).failed).toBe(0);
  expect(await paid(hierarchy)).toEqual(EXPECTED);
});

test('a child does not wait for a parent that cannot be issued, and the parent finds what it needs', async () => {
  await db.delete(jobs);
  const hierarchy = await family();
  await db.delete(jobs).where(jobOf(hierarchy.parent));
  expect((await runner().runDue(clock.now())).failed).toBe(0);
  expect(await paid(hierarchy)).toEqual(['DRAFT 2026-11 pays 0, covered 30', ...EXPECTED.slice(1)]);
  const [balance] = await balances(api, hierarchy.parent);
  expect(balance?.balance).toBe('0');
  const drawn = await db
    .select({ amount: balanceDeductions.amount })
    .from(balanceDeductions)
    .innerJoin(invoices, eq(invoices.id, balanceDeductions.invoiceId))
    .where(eq(balanceDeductions.commitId, balance?.id ?? ''));
  expect(drawn.map(({ amount }) => amount.toFixed()).toSorted()).toEqual(['30', '40']);
});

test("a child's charge leaves what that of its parent on the same date needs, whichever is issued first", async () => {
  await db.delete(jobs);
  const december = { starting_at: '2026-12-01T00:00:00Z', ending_before: '2027-01-01T00:00:00Z' };
  const { parent, children } = await createHierarchy(api, {
    ...{ startingAt: NOVEMBER.starting_at, endingBefore: december.ending_before, children: { child: APART } },
    parent: { hierarchy_configuration: undefined, commits: [prepaid(product, 10, december, ALL)] },
  });
  const { child } = children;
  if (child === undefined) throw new Error('there is a child');
  const seats = await createdId(api, PRODUCTS, { name: 'Seats', type: 'SUBSCRIPTION' });
  const referenceTo = ({ customerId: customer_id, contractId: contract_id }: Member) => ({
    ...{ customer_id, contract_id },
  });
  const card = await api.post('/v2/contracts/get', referenceTo(parent));
  const price = { rate_type: 'FLAT', price: 7, billing_frequency: 'MONTHLY', entitled: true };
  await api.post(ADD_RATES, {
    rate_card_id: card.text('data.rate_card_id'),
    rates: [{ product_id: seats, starting_at: NOVEMBER.starting_at, ...price }],
  });
  const subscription = {
    subscription_rate: { billing_frequency: 'MONTHLY', product_id: seats },
    ...{ collection_schedule: 'ADVANCE', initial_quantity: 1, starting_at: december.starting_at },
    proration: { is_prorated: false, invoice_behavior: 'BILL_IMMEDIATELY' },
  };
  for (const one of [parent, child]) {
    await api.post('/v2/contracts/edit', { ...referenceTo(one), add_subscriptions: [subscription] });
  }
  await db.delete(jobs).where(and(eq(jobs.kind, SCHEDULED_JOB), eq(jobs.subject, parent.contractId)));
  const kind = scheduledInvoicesJobKind(billingContext({ db, clock }));
  const ping = () => clickhouse.ping();
  const log = pino({ level: 'silent' });
  expect(
    (await createJobRunner(jobsContext({ db, clock, log, ping }), [kind]).runDue(clock.now())).failed,
  ).toBe(0);
  const answer = await api.get(`/v1/customers/${child.customerId}/invoices`, {
    query: { type: 'SCHEDULED', status: 'FINALIZED' },
  });
  expect(answer.list('data')).toHaveLength(1);
  expect(answer.digits('data[0].total')).toBe('4');
});
