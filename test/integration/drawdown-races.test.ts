/** Processes that issue invoices at the same time, which draw on one balance of their customer. */
import { eq, sql } from 'drizzle-orm';
import { afterAll, describe, expect, test } from 'vitest';
import { sum } from '../../src/core/decimal.ts';
import { finalizationJobKind } from '../../src/jobs/invoice-jobs.ts';
import { createJobRunner } from '../../src/jobs/job-runner.ts';
import { commits } from '../../src/store/balances/commits.tables.ts';
import { balanceDeductions, invoices } from '../../src/store/invoices/invoices.tables.ts';
import { jobs } from '../../src/store/jobs/jobs.tables.ts';
import { jobsContext } from '../support/billing-context.ts';
import { ADD_RATES, CONTRACTS, createdId, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario } from '../support/scenario.ts';
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
const CONTRACTS_PER_CUSTOMER = 4;
const CREDIT = 100;

async function catalogue() {
  const { tokensProductId: product_id } = await createScenario(api, { alias: 'other' });
  const rate_card_id = await createdId(api, RATE_CARDS, { name: 'Card' });
  const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 1 };
  await api.post(ADD_RATES, { rate_card_id, rates: [{ ...rate, product_id }] });
  const creditProductId = await createdId(api, PRODUCTS, { name: 'Credit', type: 'FIXED' });
  return { rate_card_id, creditProductId };
}

const terms = await catalogue();

/** Four contracts, each of which would draw 40 of a credit of 100. Returns the id of the credit. */
async function customerWithCredit(round: number, name = 'racer'): Promise<string> {
  const { rate_card_id, creditProductId } = terms;
  const alias = `${name}-${round}`;
  const customer_id = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  for (let index = 0; index < CONTRACTS_PER_CUSTOMER; index += 1) {
    await createdId(api, CONTRACTS, {
      customer_id,
      rate_card_id,
      starting_at: '2026-11-01T00:00:00Z',
      ending_before: '2026-12-01T00:00:00Z',
    });
  }
  const credit = await createdId(api, '/v1/contracts/customerCredits/create', {
    customer_id,
    priority: 1,
    product_id: creditProductId,
    access_schedule: { schedule_items: [{ amount: CREDIT, ...NOVEMBER }] },
  });
  await api.post('/v1/ingest', [completion(alias, { id: alias, at: '2026-11-03T00:00:00Z', tokens: 40 })]);
  return credit;
}

async function ownerOf(creditId: string): Promise<string> {
  const [row] = await db
    .select({ customerId: commits.customerId })
    .from(commits)
    .where(eq(commits.id, creditId));
  return row?.customerId ?? '';
}

test('a balance is spent once, regardless of who issues the invoices', async () => {
  await db.delete(jobs);
  for (let round = 0; round < runs(12); round += 1) {
    const credit = await customerWithCredit(round);
    const processes = [runner(), runner(), runner()];
    const outcomes = await Promise.all(processes.map((one) => one.runDue(clock.now())));
    for (const one of processes) expect((await one.retryFailed(clock.now())).failed).toBe(0);
    expect(outcomes.map(({ failed }) => failed)).toEqual([0, 0, 0]);
    expect(outcomes.reduce((sum, { done }) => sum + done, 0)).toBe(CONTRACTS_PER_CUSTOMER);
    const amounts = await db
      .select({ amount: balanceDeductions.amount })
      .from(balanceDeductions)
      .innerJoin(commits, eq(commits.id, balanceDeductions.commitId))
      .where(eq(commits.id, credit))
      .orderBy(sql`${balanceDeductions.amount} desc`);
    expect(amounts.map(({ amount }) => amount.toFixed())).toEqual(['40', '40', '20']);
  }
}, 240_000);

describe('while the usage invoice of its contract is being issued', () => {
  /** A contract of 40 tokens whose own credit of 100 pays for them. */
  async function contractWithCredit(name: string) {
    const { rate_card_id, creditProductId } = terms;
    const customer_id = await createdId(api, '/v1/customers', { name, ingest_aliases: [name] });
    const contract_id = await createdId(api, CONTRACTS, {
      ...{ customer_id, rate_card_id, ...NOVEMBER },
      credits: [
        {
          product_id: creditProductId,
          access_schedule: { schedule_items: [{ amount: CREDIT, ...NOVEMBER }] },
        },
      ],
    });
    await api.post('/v1/ingest', [completion(name, { id: name, at: '2026-11-03T00:00:00Z', tokens: 40 })]);
    const list = await api.post('/v1/contracts/customerCredits/list', {
      ...{ customer_id, include_contract_credits: true },
    });
    const id = list.text('data[0].id');
    const segment_id = list.text('data[0].access_schedule.schedule_items[0].id');
    return { customer_id, contract_id, id, segment_id };
  }

  /** The amount that the invoice took of the credit. With the amount that it bills, it equals the usage. */
  async function taken(creditId: string): Promise<string> {
    const [row] = await db
      .select({ amount: balanceDeductions.amount, total: invoices.total })
      .from(balanceDeductions)
      .innerJoin(invoices, eq(invoices.id, balanceDeductions.invoiceId))
      .where(eq(balanceDeductions.commitId, creditId));
    expect(row?.amount.plus(row.total).toFixed()).toBe('40');
    return row?.amount.toFixed() ?? '';
  }

  test.each(Array.from({ length: runs(4) }, (_, round) => round))(
    'an entry by hand counts before it or after it, and never twice (%i)',
    async (round) => {
      const { customer_id, contract_id, id, segment_id } = await contractWithCredit(`entry-${round}`);
      const [entry] = await Promise.all([
        api.send('POST', '/v1/contracts/addManualBalanceLedgerEntry', {
          ...{ customer_id, contract_id, id, segment_id, amount: -80, reason: 'correction' },
        }),
        runner().runDue(clock.now()),
      ]);
      expect(entry.status).toBe(200);
      expect(['20', '40']).toContain(await taken(id));
    },
  );

  test.each(Array.from({ length: runs(4) }, (_, round) => round))(
    'an edit of its amount counts before it, or changes nothing of it (%i)',
    async (round) => {
      const { customer_id, contract_id, id, segment_id } = await contractWithCredit(`edit-${round}`);
      const [edited] = await Promise.all([
        api.send('POST', '/v2/contracts/edit', {
          ...{ customer_id, contract_id },
          update_credits: [
            { credit_id: id, access_schedule: { update_schedule_items: [{ id: segment_id, amount: 30 }] } },
          ],
        }),
        runner().runDue(clock.now()),
      ]);
      // The amount that the invoice took first stays taken.
      expect([200, 400]).toContain(edited.status);
      const drawn = await taken(id);
      expect(drawn).toBe(edited.status === 200 ? '30' : '40');
    },
  );

  test.each(Array.from({ length: runs(6) }, (_, round) => round))(
    'an edit that lowers it and ends the contract waits for the invoice, or comes before it (%i)',
    async (round) => {
      await db.delete(jobs);
      const { customer_id, contract_id, id, segment_id } = await contractWithCredit(`ended-${round}`);
      const processes = [runner(), runner()];
      const [edited] = await Promise.all([
        api.send('POST', '/v2/contracts/edit', {
          ...{ customer_id, contract_id, update_contract_end_date: '2026-11-20T00:00:00Z' },
          update_credits: [
            { credit_id: id, access_schedule: { update_schedule_items: [{ id: segment_id, amount: 30 }] } },
          ],
        }),
        ...processes.map((one) => one.runDue(clock.now())),
      ]);
      for (const one of processes) expect((await one.retryFailed(clock.now())).failed).toBe(0);
      expect([200, 400]).toContain(edited.status);
      expect(await taken(id)).toBe(edited.status === 200 ? '30' : '40');
      const [invoice] = await db
        .select({ end: invoices.periodEnd })
        .from(invoices)
        .where(eq(invoices.contractId, contract_id));
      expect(invoice?.end).toBe(
        Date.UTC(2026, edited.status === 200 ? 10 : 11, edited.status === 200 ? 20 : 1),
      );
    },
  );
});

describe('while usage invoices that draw on a credit of the customer are being issued', () => {
  test.each(Array.from({ length: runs(6) }, (_, round) => round))(
    'lowering it comes before them, or is refused, and never leaves less than they took (%i)',
    async (round) => {
      await db.delete(jobs);
      const credit_id = await customerWithCredit(round, 'lowered');
      const customer_id = await ownerOf(credit_id);
      const list = await api.post('/v1/contracts/customerCredits/list', { customer_id, credit_id });
      const id = list.text('data[0].access_schedule.schedule_items[0].id');
      const edit = (amount: number) =>
        api.send('POST', '/v2/contracts/credits/edit', {
          ...{ customer_id, credit_id },
          access_schedule: { update_schedule_items: [{ id, amount }] },
        });
      const processes = [runner(), runner()];
      const [lowered] = await Promise.all([edit(30), ...processes.map((one) => one.runDue(clock.now()))]);
      for (const one of processes) expect((await one.retryFailed(clock.now())).failed).toBe(0);
      expect([200, 400]).toContain(lowered.status);
      const drawn = await db
        .select({ amount: balanceDeductions.amount })
        .from(balanceDeductions)
        .where(eq(balanceDeductions.commitId, credit_id));
      expect(sum(drawn.map(({ amount }) => amount)).toFixed()).toBe(lowered.status === 200 ? '30' : '100');
      expect((await edit(29)).status).toBe(400);
      expect((await edit(120)).status).toBe(200);
    },
  );
});
