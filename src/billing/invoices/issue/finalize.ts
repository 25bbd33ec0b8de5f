/**
 * Issues the invoices of due finalization jobs in two steps (docs/explanation/invoices.md, "Finalization").
 *
 * The first step has no transaction: it reads the terms in one snapshot and the usage in ClickHouse, and computes the
 * invoices. The second is one short transaction: it reads the terms again, issues the invoices that were computed
 * from exactly these, and queues the jobs of the next periods.
 */

import { z } from 'zod';
import { assert } from '../../../core/errors.ts';
import type { Instant } from '../../../core/time.ts';
import { nextPeriod, wholePeriod } from '../../../rating/periods/billing-periods.ts';
import { atOnce, type InTurn } from '../../../runtime/turns.ts';
import type { SystemChange } from '../../../store/access/system-changes.ts';
import { inSnapshot, snapshotInstant, type Transaction } from '../../../store/base/database.ts';
import { type Contract, loadContracts } from '../../../store/contracts/contracts.ts';
import { lockBalances } from '../../../store/invoices/balance-deductions.ts';
import { existingInvoiceIds, lastIssuedPeriodEnds } from '../../../store/invoices/issued-periods.ts';
import { enqueueJobs, type Job } from '../../../store/jobs/jobs.ts';
import type { FinalizedInvoice } from '../../invoice-log/invoice-log.ts';
import { issueChange } from '../../invoice-log/system-changes.ts';
import { finalizationJob } from '../../invoice-queue/finalization.ts';
import {
  billsUsage,
  finalizationAt,
  type InvoiceTarget,
  nextUnissuedPeriod,
  periodFrom,
  periodTerms,
  usageInvoiceId,
} from '../../invoice-queue/usage-periods.ts';
import { type BegunRun, beginRun, computeRun, type RunContext } from '../compute/compute-run.ts';
import { inputFingerprints } from '../compute/input-fingerprints.ts';
import { type PlannedInvoices, planInvoices } from '../compute/plan-invoices.ts';
import { planConsolidations } from '../consolidated/issue.ts';
import { createHoursFreezer, freezeInvoices, type HourlyFrozenInvoice, isIssued } from '../freeze/freeze.ts';

/** Invoices that can be issued as long as their input is unchanged. */
export interface PreparedInvoices {
  /** The jobs whose input is unchanged. */
  stillValid(tx: Transaction, jobs: readonly Job[]): Promise<readonly Job[]>;
  /** Issues the invoices of jobs that are still valid, and queues the jobs of the next periods. */
  write(tx: Transaction, jobs: readonly Job[]): Promise<void>;
  /** The changes of `write`, for the audit log. */
  changes(): readonly SystemChange[];
  /** To be called when the transaction of `write` is committed. */
  committed(): void;
}

interface PreparedInvoice extends HourlyFrozenInvoice {
  readonly fingerprint: string;
}

/**
 * Computes the invoices of the jobs. Their hours are in ClickHouse afterwards, under ids that nothing refers to. The
 * usage of one batch is in memory at a time, and the first of the next one: it is rated `inTurn`.
 */
export async function prepareInvoices(
  billing: RunContext,
  jobs: readonly Job[],
  inTurn: InTurn = atOnce,
): Promise<PreparedInvoices> {
  const { plan, termsReadAt } = await inSnapshot(billing.db, async (tx) => ({
    plan: (await planOf(billing, tx, jobs)).plan,
    termsReadAt: await snapshotInstant(tx),
  }));
  const fingerprints = await inputFingerprints(plan);
  const prepared = new Map<string, PreparedInvoice>();
  const { tracer } = billing;
  const facts = { 'tallyhouse.invoices': plan.targets.length };
  const freezer = createHoursFreezer(billing.clickhouse);
  // Each is frozen when it is computed, so that the hours of few are in memory.
  const rate = async (run: BegunRun) => {
    for await (const computed of computeRun(run, 'hour')) {
      const frozen = await freezer.freeze(computed);
      const { id } = frozen.invoice;
      prepared.set(id, { ...frozen, fingerprint: fingerprints.get(id) ?? '' });
    }
  };
  await inTurn(
    () => tracer.step('read', facts, () => beginRun(billing, plan)),
    (run) => tracer.step('rate', facts, () => rate(run)),
  );
  await tracer.step('freeze', facts, () => freezer.finish());
  const drawingCustomers = [...plan.context.balances.keys()];
  return preparedInvoices(billing, { invoices: prepared, termsReadAt, drawingCustomers });
}

interface Preparation {
  /** By id. */
  readonly invoices: ReadonlyMap<string, PreparedInvoice>;
  readonly termsReadAt: Instant;
  /** Customers with balances. */
  readonly drawingCustomers: readonly string[];
}

function preparedInvoices(
  billing: RunContext,
  { invoices, termsReadAt, drawingCustomers }: Preparation,
): PreparedInvoices {
  // As read by `stillValid` in the transaction.
  let targets: ReadonlyMap<number, FinalizationTarget> = new Map();
  let open: ReadonlyMap<string, string> = new Map();
  let issued: readonly FinalizedInvoice[] = [];
  return {
    async stillValid(tx, jobs) {
      await lockBalances(tx, drawingCustomers);
      const now = await planOf(billing, tx, jobs);
      targets = now.targets;
      open = await inputFingerprints(now.plan);
      return jobs.filter(({ id }) => {
        const target = targets.get(id);
        const fingerprint = target && open.get(targetInvoiceId(target));
        if (target === undefined || fingerprint === undefined) return true;
        return invoices.get(targetInvoiceId(target))?.fingerprint === fingerprint;
      });
    },
    async write(tx, jobs) {
      const own = jobs.flatMap(({ id }) => targets.get(id) ?? []);
      const due = new Map(own.map((target) => [targetInvoiceId(target), target] as const));
      const written = [...due].filter(([id]) => open.has(id));
      const frozen = written.map(([id]) => invoiceOf(invoices, id));
      await freezeInvoices(tx, frozen, termsReadAt);
      await planConsolidations(
        tx,
        written.map(([, target]) => target),
        billing.gracePeriodHours,
      );
      issued = frozen.map(({ invoice, warnings }) => ({
        ...invoice,
        status: 'FINALIZED',
        warnings: warnings.filter(isIssued),
      }));
      const next = own.flatMap(nextTarget);
      await enqueueJobs(
        tx,
        next.map((target) => finalizationJob(target, billing.gracePeriodHours)),
      );
    },
    changes: () => issued.map(issueChange),
    committed: () => billing.invoiceLog.finalized(issued),
  };
}

/** The targets of the jobs by id, and the input of the invoices that are due and not issued. */
async function planOf(
  billing: Pick<RunContext, 'gracePeriodHours' | 'clock'>,
  tx: Transaction,
  jobs: readonly Job[],
): Promise<{ targets: ReadonlyMap<number, FinalizationTarget>; plan: PlannedInvoices }> {
  const targets = await finalizationTargets(tx, jobs, billing.gracePeriodHours);
  // Two jobs of one contract may have the same target.
  const due = new Map(
    [...targets.values()].filter(({ isDue }) => isDue).map((target) => [targetInvoiceId(target), target]),
  );
  const issued = await existingInvoiceIds(tx, [...due.keys()]);
  const open = [...due].filter(([id]) => !issued.has(id)).map(([, target]) => target);
  return { targets, plan: await planInvoices(tx, open, billing.clock.now()) };
}

function invoiceOf(invoices: Preparation['invoices'], id: string): PreparedInvoice {
  const invoice = invoices.get(id);
  assert(invoice !== undefined, `invoice ${id} of a valid job is prepared`);
  return invoice;
}

function targetInvoiceId({ contract, period }: InvoiceTarget): string {
  return usageInvoiceId(contract.id, period.start);
}

/** The jobs to queue when the job is done. */
function nextTarget({ contract, period, isDue }: FinalizationTarget): InvoiceTarget[] {
  if (!isDue) return [{ contract, period }];
  const next = nextPeriod(periodTerms(contract), period);
  return next === null ? [] : [{ contract, period: wholePeriod(next) }];
}

const payloadSchema = z.object({ contract_id: z.uuid(), period_start: z.int() });

interface FinalizationTarget extends InvoiceTarget {
  /** False if the period now ends later than when the job was queued. */
  readonly isDue: boolean;
}

/**
 * The current targets of the jobs by their ids. A contract may have changed since its job was queued. A job whose
 * contract is archived, or ended before the period, has none. If an earlier period is not issued, such as one that an
 * older version did not bill, that is the target.
 */
async function finalizationTargets(
  tx: Transaction,
  batch: readonly Job[],
  gracePeriodHours: number,
): Promise<Map<number, FinalizationTarget>> {
  const jobs = batch.map(({ id, runAt, payload }) => ({ id, runAt, ...payloadSchema.parse(payload) }));
  const contracts = new Map(
    (await loadContracts(tx, { ids: jobs.map((job) => job.contract_id) })).map((one) => [one.id, one]),
  );
  const issuedUntil = await lastIssuedPeriodEnds(tx, [...contracts.keys()]);
  const targets = jobs.flatMap(({ id, runAt, contract_id, period_start }) => {
    const contract = contracts.get(contract_id);
    if (contract === undefined) return [];
    const first = nextUnissuedPeriod(contract, issuedUntil.get(contract.id));
    const target = targetOf(contract, Math.min(period_start, first?.start ?? period_start));
    if (target === null) return [];
    const isDue = finalizationAt(target.period, gracePeriodHours) <= runAt;
    return [[id, { ...target, isDue }] as const];
  });
  return new Map(targets);
}

function targetOf(contract: Contract, periodStart: Instant): InvoiceTarget | null {
  const period = billsUsage(contract) ? periodFrom(contract, periodStart) : null;
  return period && { contract, period };
}
