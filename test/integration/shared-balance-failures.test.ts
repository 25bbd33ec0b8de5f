/** A balance of a customer that several contracts draw on, while the invoice of one of them cannot be issued. */
import { eq, sql } from 'drizzle-orm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { decimal, sum } from '../../src/core/decimal.ts';
import { balanceDeductions } from '../../src/store/invoices/invoices.tables.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { reconcile } from '../support/reconciled.ts';
import { startTestService, type TestService } from '../support/service.ts';
import {
  createThresholdCatalogue,
  createThresholdCustomer,
  type ThresholdCatalogue,
  type ThresholdCustomer,
} from '../support/thresholds.ts';

let service: TestService;
let catalogue: ThresholdCatalogue;
let customer: ThresholdCustomer;
let contracts: string[];
let credit: string;

/** Four contracts, each of which bills the same 40 cents of November, and 100 cents of credit for all of them. */
beforeEach(async () => {
  service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
  const { api } = service;
  catalogue = await createThresholdCatalogue(api);
  customer = await createThresholdCustomer(api, catalogue, {});
  const { customerId: customer_id } = customer;
  contracts = [customer.contractId];
  while (contracts.length < 4) {
    const terms = { customer_id, rate_card_id: catalogue.card, starting_at: '2026-11-01T00:00:00Z' };
    contracts.push(await createdId(api, CONTRACTS, terms));
  }
  // They draw in this order.
  contracts.sort();
  credit = await createdId(api, '/v1/contracts/customerCredits/create', {
    customer_id,
    priority: 1,
    product_id: catalogue.fee,
    access_schedule: {
      schedule_items: [
        { amount: 100, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-01-01T00:00:00Z' },
      ],
    },
  });
  await customer.use(40, '2026-11-05T12:00:00Z');
});
afterEach(() => service.close());

/** The amounts that issued invoices have taken of the credit, largest first. */
async function taken(): Promise<string[]> {
  const rows = await service.db
    .select({ amount: balanceDeductions.amount })
    .from(balanceDeductions)
    .where(eq(balanceDeductions.commitId, credit));
  return rows
    .map(({ amount }) => amount)
    .toSorted((a, b) => b.cmp(a))
    .map((amount) => amount.toFixed());
}

/** The balance of the credit and the sum of its ledger. Drafts count in both. */
async function left(): Promise<{ balance: string; ledger: string }> {
  const answer = await service.api.post('/v1/contracts/customerCredits/list', {
    ...{ customer_id: customer.customerId, credit_id: credit, include_ledgers: true, include_balance: true },
  });
  const entries = answer.list('data[0].ledger').map((_, index) => `data[0].ledger[${index}].amount`);
  return {
    balance: answer.digits('data[0].balance'),
    ledger: sum(entries.map((at) => decimal(answer.digits(at)))).toFixed(),
  };
}

/** The total of the finalized invoice of November by contract; null where there is none. */
async function billed(): Promise<(string | null)[]> {
  const answer = await service.api.get(`/v1/customers/${customer.customerId}/invoices`, {
    query: { status: 'FINALIZED', limit: 100 },
  });
  const totals = new Map<string, string>();
  for (const index of answer.list('data').keys()) {
    const at = `data[${index}]`;
    if (!answer.text(`${at}.start_timestamp`).startsWith('2026-11')) continue;
    const contract = answer.text(`${at}.contract_id`);
    expect(totals.has(contract)).toBe(false);
    totals.set(contract, answer.digits(`${at}.total`));
  }
  return contracts.map((id) => totals.get(id) ?? null);
}

/**
 * The amounts that the contracts take of 160 cents of usage, in the order of their ids, and the amounts that they bill.
 */
const SHARES = ['40', '40', '20'];
const TOTALS = ['0', '0', '20', '40'];

async function refuseInvoicesOf(contractId: string | undefined): Promise<void> {
  const refused = sql.raw(`check (contract_id <> '${contractId}') not valid`);
  await service.db.execute(sql`alter table invoices add constraint refused ${refused}`);
}

async function acceptInvoices(): Promise<void> {
  await service.db.execute(sql`alter table invoices drop constraint refused`);
}

test.each([0, 2, 3])(
  'the others are issued as if it were too, the balance is spent once, and it gets its share when it can be issued (contract %i)',
  async (failing) => {
    await refuseInvoicesOf(contracts[failing]);
    // It is tried again and again.
    for (const at of ['2026-12-03', '2026-12-04', '2026-12-06']) {
      await service.moveClock(`${at}T00:00:00Z`);
      expect(await billed()).toEqual(TOTALS.map((total, rank) => (rank === failing ? null : total)));
      expect(await taken()).toEqual(SHARES.filter((_, rank) => rank !== failing));
      // Its draft has the rest.
      expect(await left()).toEqual({ balance: '0', ledger: '0' });
    }
    await acceptInvoices();
    await service.moveClock('2026-12-07T00:00:00Z');
    expect(await billed()).toEqual(TOTALS);
    expect(await taken()).toEqual(SHARES);
    expect(await left()).toEqual({ balance: '0', ledger: '0' });
    const range = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-02T00:00:00Z' };
    const checked = await reconcile(service.api, { ...range, customer_id: customer.customerId });
    expect(checked).toMatchObject({ differences: [], late: [], unchecked: [] });
  },
);

test('credit that is added while the last one waits pays for it, and the invoices that are issued stay as they are', async () => {
  const { api } = service;
  await refuseInvoicesOf(contracts[3]);
  await service.moveClock('2026-12-03T00:00:00Z');
  const of = { customer_id: customer.customerId, credit_id: credit };
  const id = (await api.post('/v1/contracts/customerCredits/list', of)).text(
    'data[0].access_schedule.schedule_items[0].id',
  );
  const access_schedule = { update_schedule_items: [{ id, amount: 130 }] };
  await api.post('/v2/contracts/credits/edit', { ...of, access_schedule });
  // The draft of the invoice that waits takes the new 30.
  expect(await left()).toEqual({ balance: '0', ledger: '0' });
  await acceptInvoices();
  await service.moveClock('2026-12-04T00:00:00Z');
  expect(await billed()).toEqual(['0', '0', '20', '10']);
  expect(await taken()).toEqual(['40', '40', '30', '20']);
  expect(await left()).toEqual({ balance: '0', ledger: '0' });
});
