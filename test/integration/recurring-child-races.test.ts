/**
 * A child of a recurring commit that is edited while an invoice is issued: the usage invoice that draws on it, and the
 * invoice of its purchase. Whichever comes first, its ledger, its balance and the invoice agree.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { decimal, sum } from '../../src/core/decimal.ts';
import { finalizationJobKind, scheduledInvoicesJobKind } from '../../src/jobs/invoice-jobs.ts';
import type { JobKind } from '../../src/jobs/job-kind.ts';
import { createJobRunner } from '../../src/jobs/job-runner.ts';
import { afterWrite } from '../support/after-write.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { billingContext, jobsContext } from '../support/billing-context.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { runs } from '../support/shares-of-tests.ts';
import {
  createThresholdCatalogue,
  createThresholdCustomer,
  type ThresholdCustomer,
} from '../support/thresholds.ts';
import { waitForLock } from '../support/wait-for-lock.ts';

let service: TestService;
let customer: ThresholdCustomer;

/** November's child grants 31 for 20, and 60 are used; December's child is there already. */
beforeEach(async () => {
  service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
  const catalogue = await createThresholdCatalogue(service.api);
  const amount = (unit_price: number) => ({ unit_price, quantity: 1, credit_type_id: USD_CENTS.id });
  customer = await createThresholdCustomer(service.api, catalogue, {
    recurring_commits: [
      {
        product_id: catalogue.fee,
        access_amount: amount(31),
        invoice_amount: amount(20),
        commit_duration: { value: 1 },
        priority: 1,
        starting_at: '2026-11-01T00:00:00Z',
      },
    ],
  });
  await customer.use(60, '2026-11-05T12:00:00Z');
  // The jobs that are due now are done.
  await service.moveClock('2026-11-10T00:00:00Z');
});
afterEach(() => service.close());

/** A process whose clock stands at the grace period's end of November. */
async function runDue(kind: JobKind): Promise<void> {
  const { db, clickhouse } = service;
  const clock = { now: () => Date.UTC(2026, 11, 3) };
  const ping = () => clickhouse.ping();
  const runner = createJobRunner(jobsContext({ db, clock, ping }), [kind]);
  expect(await runner.runDue(clock.now())).toMatchObject({ failed: 0 });
}

function read(): Promise<ApiAnswer> {
  const { customerId: customer_id, contractId: contract_id } = customer;
  const options = { include_balance: true, include_ledgers: true };
  return service.api.post('/v2/contracts/get', { customer_id, contract_id, ...options });
}

/** Edits the child of this index. Returns the status. */
async function edit(index: number, change: (child: string, contract: ApiAnswer) => object): Promise<number> {
  const contract = await read();
  const child = `data.commits[${index}]`;
  const answer = await service.api.send('POST', '/v2/contracts/edit', {
    ...{ customer_id: customer.customerId, contract_id: customer.contractId },
    update_commits: [{ commit_id: contract.text(`${child}.id`), ...change(child, contract) }],
  });
  return answer.status;
}

const grant = (amount: number) =>
  edit(0, (child, contract) => {
    const id = contract.text(`${child}.access_schedule.schedule_items[0].id`);
    return { access_schedule: { update_schedule_items: [{ id, amount }] } };
  });

const charge = (amount: number) =>
  edit(1, (child, contract) => {
    const id = contract.text(`${child}.invoice_schedule.schedule_items[0].id`);
    return { invoice_schedule: { update_schedule_items: [{ id, amount }] } };
  });

/** Begins the edit when the job has written everything, and commits when `reached`. */
function overtaking(
  kind: JobKind,
  change: () => Promise<number>,
  reached: (edited: Promise<number>) => Promise<unknown>,
) {
  let status: Promise<number> | null = null;
  const overtaken = afterWrite(kind, async () => {
    if (status !== null) return;
    status = change();
    await reached(status);
  });
  return { kind: overtaken, status: () => status };
}

/** The totals of the finalized invoices of this type. */
async function totals(type: string): Promise<string[]> {
  const rows = await customer.invoices();
  return rows.flatMap((row) => (row.startsWith(`${type} FINALIZED `) ? [row.split(' ')[2] ?? ''] : []));
}

describe('while the usage invoice that draws on it is issued', () => {
  const kind = () => {
    const { db, clickhouse } = service;
    const clock = { now: () => Date.UTC(2026, 11, 3) };
    return finalizationJobKind(jobsContext({ db, clickhouse, clock }));
  };

  /** The invoice has taken so much, and the ledger says so too. */
  async function expectDrawn(drawn: string, granted: string): Promise<void> {
    const contract = await read();
    const ledger = contract.list('data.commits[0].ledger') as { type: string }[];
    const amounts = ledger.map((_, index) => contract.digits(`data.commits[0].ledger[${index}].amount`));
    const ofInvoices = amounts.filter((_, index) => ledger[index]?.type.includes('INVOICE_DEDUCTION'));
    expect(ofInvoices).toEqual([`-${drawn}`]);
    expect(amounts[0]).toBe(granted);
    const left = sum(amounts.map(decimal));
    expect(left.toFixed()).toBe(decimal(granted).minus(decimal(drawn)).toFixed());
    expect(contract.digits('data.commits[0].balance')).toBe(left.toFixed());
    expect(await totals('USAGE')).toEqual([decimal('60').minus(decimal(drawn)).toFixed()]);
  }

  test.each([
    [50, '50'],
    [20, '20'],
  ])('an amount of %i that is set first is drawn', async (amount, drawn) => {
    const { clickhouse } = service;
    let status: Promise<number> | null = null;
    const query: typeof clickhouse.query = async (statement) => {
      status ??= grant(amount);
      await status;
      return clickhouse.query(statement);
    };
    const clock = { now: () => Date.UTC(2026, 11, 3) };
    const hooked = { ...clickhouse, query };
    await runDue(finalizationJobKind(jobsContext({ db: service.db, clickhouse: hooked, clock })));
    expect(await status).toBe(200);
    await expectDrawn(drawn, drawn);
  });

  test('a larger amount that is second keeps what was drawn', async () => {
    const { kind: overtaken, status } = overtaking(
      kind(),
      () => grant(50),
      (edited) => edited,
    );
    await runDue(overtaken);
    expect(await status()).toBe(200);
    await expectDrawn('31', '50');
  });

  test('an amount below what is drawn waits for the invoice, and is refused', async () => {
    const { kind: overtaken, status } = overtaking(
      kind(),
      () => grant(20),
      () => waitForLock(service.db),
    );
    await runDue(overtaken);
    expect(await status()).toBe(400);
    await expectDrawn('31', '31');
  });

  test.each(Array.from({ length: runs(3) }, (_, round) => round))(
    'at the same time, one of both comes first (%i)',
    async () => {
      const [status] = await Promise.all([grant(20), runDue(kind())]);
      const amount = status === 200 ? '20' : '31';
      await expectDrawn(amount, amount);
    },
  );
});

describe('while its purchase is invoiced', () => {
  const kind = () => {
    const clock = { now: () => Date.UTC(2026, 11, 3) };
    return scheduledInvoicesJobKind(billingContext({ db: service.db, clock }));
  };

  /** November's for 20, and December's for what its schedule says. */
  async function expectBought(amount: string): Promise<void> {
    expect(await totals('SCHEDULED')).toEqual(['20', amount].toSorted());
    const contract = await read();
    expect(contract.digits('data.commits[1].invoice_schedule.schedule_items[0].amount')).toBe(amount);
    expect(contract.digits('data.commits[1].balance')).toBe('0');
  }

  test('a price that is set first is invoiced', async () => {
    expect(await charge(25)).toBe(200);
    await runDue(kind());
    await expectBought('25');
  });

  test('a price that is second changes nothing', async () => {
    const { kind: overtaken, status } = overtaking(
      kind(),
      () => charge(25),
      () => waitForLock(service.db),
    );
    await runDue(overtaken);
    expect(await status()).toBe(400);
    await expectBought('20');
  });

  test.each(Array.from({ length: runs(3) }, (_, round) => round))(
    'at the same time, one of both comes first (%i)',
    async () => {
      const [status] = await Promise.all([charge(25), runDue(kind())]);
      await expectBought(status === 200 ? '25' : '20');
    },
  );
});
