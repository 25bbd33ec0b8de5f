/**
 * Finalizes usage invoices: after the end of a billing period and its grace period, a job stores the draft as
 * an immutable invoice and queues the job of the next period.
 *
 * One transaction locks the jobs, stores the invoices with their lines, and queues the next jobs. The hourly
 * lines are written to ClickHouse before it commits, under ids that only committed invoices refer to.
 */
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import { Refusal } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { nextPeriod, wholePeriod } from '../../rating/periods/billing-periods.ts';
import { type Contract, loadContracts } from '../../store/contracts.ts';
import type { Database, Transaction } from '../../store/database.ts';
import { existingInvoiceIds, lastIssuedPeriodEnds } from '../../store/invoices.ts';
import { enqueueJobs, holdJobs, type Job, type NewJob, removeJobs } from '../../store/jobs.ts';
import { computeInGroups, planInvoices } from './compute.ts';
import { freezeInvoices } from './freeze.ts';
import {
  billsUsage,
  finalizationAt,
  type InvoiceTarget,
  nextUnissuedPeriod,
  periodFrom,
  periodTerms,
  usageInvoiceId,
} from './usage-periods.ts';

/** The kind of the finalization jobs. */
export const FINALIZATION_JOB = 'finalize_usage_invoice';

const payloadSchema = z.object({ contract_id: z.uuid(), period_start: z.int() });

export interface FinalizationDeps {
  readonly clock: Clock;
  readonly clickhouse: ClickHouse;
  readonly gracePeriodHours: number;
}

/** A contract that this transaction created (`before` null) or changed. */
export interface HeaderChange {
  readonly before: Contract | null;
  readonly after: Contract;
}

/**
 * Queues the finalization of the first unissued period for each contract whose billing periods changed; without
 * such a period, there is no job. A period that now ends earlier is finalized earlier. One that ends later is
 * postponed when its job runs. For a contract that is not billed any more, no invoice is finalized from now on;
 * a finalization in progress is awaited.
 */
export async function planFinalizations(
  tx: Transaction,
  changes: readonly HeaderChange[],
  gracePeriodHours: number,
): Promise<void> {
  const replanned = changes.filter(({ before, after }) => billingOf(before) !== billingOf(after));
  const before = replanned.flatMap((change) => change.before ?? []);
  const isStopped = ({ id }: Contract) =>
    replanned.some(({ after }) => after.id === id && !billsUsage(after));
  await holdNextFinalizations(tx, before.filter(isStopped));
  const targets = await nextTargets(
    tx,
    replanned.map(({ after }) => after),
  );
  const kept = new Set(targets.map(jobKey));
  const keys = (await nextTargets(tx, before)).map(jobKey);
  await removeJobs(
    tx,
    FINALIZATION_JOB,
    keys.filter((key) => !kept.has(key)),
  );
  await enqueueJobs(
    tx,
    targets.map((target) => finalizationJob(target, gracePeriodHours)),
  );
}

/** Equal for two states of a contract with the same usage invoices. */
function billingOf(contract: Contract | null): string | null {
  if (contract === null || !billsUsage(contract)) return null;
  return JSON.stringify([periodTerms(contract), contract.invoiceGenerationStartingAt]);
}

/**
 * Prevents the finalization of an invoice until the transaction ends. Waits for a finalization in progress. An
 * invoice whose predecessor is not issued has no job yet, so it is not finalized either.
 */
export async function holdFinalization(tx: Transaction, target: InvoiceTarget): Promise<void> {
  await holdJobs(tx, FINALIZATION_JOB, [jobKey(target)]);
}

/** Each finalization of an overdue contract queues the next; most of them awaited in a row. */
const FINALIZATIONS_AWAITED_MAX = 50;

/**
 * Prevents the finalization of all invoices of contracts that this transaction has locked, until it ends.
 * Refuses (`unavailable`) if other processes keep finalizing one period after the other.
 */
export async function holdNextFinalizations(tx: Transaction, contracts: readonly Contract[]): Promise<void> {
  const held = new Set<string>();
  for (let round = 0; round < FINALIZATIONS_AWAITED_MAX; round += 1) {
    const keys = (await nextTargets(tx, contracts)).map(jobKey).filter((key) => !held.has(key));
    if (keys.length === 0) return;
    await holdJobs(tx, FINALIZATION_JOB, keys);
    for (const key of keys) held.add(key);
  }
  throw new Refusal('unavailable', 'invoices of these contracts are being finalized: try again later');
}

async function nextTargets(
  db: Transaction | Database,
  contracts: readonly Contract[],
): Promise<InvoiceTarget[]> {
  const billed = contracts.filter(billsUsage);
  const issuedUntil = await lastIssuedPeriodEnds(
    db,
    billed.map(({ id }) => id),
  );
  return billed.flatMap((contract) => {
    const period = nextUnissuedPeriod(contract, issuedUntil.get(contract.id));
    return period === null ? [] : [{ contract, period }];
  });
}

function finalizationJob({ contract, period }: InvoiceTarget, gracePeriodHours: number): NewJob {
  return {
    kind: FINALIZATION_JOB,
    key: jobKey({ contract, period }),
    subject: contract.id,
    runAt: finalizationAt(period, gracePeriodHours),
    payload: { contract_id: contract.id, period_start: period.start },
  };
}

function jobKey({ contract, period }: InvoiceTarget): string {
  return `${contract.id}:${formatInstant(period.start)}`;
}

/** Runs due jobs: issues the invoices of their periods and queues the next periods. */
export async function finalizeInvoices(
  deps: FinalizationDeps,
  tx: Transaction,
  batch: readonly Job[],
): Promise<void> {
  const { due, later } = await targetsOf(deps, tx, batch);
  const issuedIds = await existingInvoiceIds(tx, due.map(targetInvoiceId));
  const targets = due.filter((target) => !issuedIds.has(targetInvoiceId(target)));
  for await (const computed of computeInGroups(deps, await planInvoices(tx, targets), 'hour')) {
    await freezeInvoices(deps.clickhouse, tx, computed);
  }
  await enqueueJobs(
    tx,
    [...later, ...due.flatMap(followingTarget)].map((target) =>
      finalizationJob(target, deps.gracePeriodHours),
    ),
  );
}

function targetInvoiceId({ contract, period }: InvoiceTarget): string {
  return usageInvoiceId(contract.id, period.start);
}

function followingTarget({ contract, period }: InvoiceTarget): InvoiceTarget[] {
  const next = nextPeriod(periodTerms(contract), period);
  return next === null ? [] : [{ contract, period: wholePeriod(next) }];
}

/**
 * The present targets of the jobs. A contract may have changed since its job was queued. One that is archived,
 * or ended before the period, is left out. One whose period now ends later is queued again. If an earlier
 * period is not issued, such as one that an older version did not bill, that is issued first.
 */
async function targetsOf(
  deps: FinalizationDeps,
  tx: Transaction,
  batch: readonly Job[],
): Promise<{ due: InvoiceTarget[]; later: InvoiceTarget[] }> {
  const jobs = batch.map((job) => ({ runAt: job.runAt, ...payloadSchema.parse(job.payload) }));
  const contracts = new Map(
    (await loadContracts(tx, { ids: jobs.map((job) => job.contract_id) })).map((one) => [one.id, one]),
  );
  const issuedUntil = await lastIssuedPeriodEnds(tx, [...contracts.keys()]);
  const targets = jobs.flatMap(({ runAt, contract_id, period_start }) => {
    const contract = contracts.get(contract_id);
    if (contract === undefined) return [];
    const first = nextUnissuedPeriod(contract, issuedUntil.get(contract.id));
    return targetOf(contract, Math.min(period_start, first?.start ?? period_start), runAt);
  });
  const groups = groupBy(
    targets,
    ({ period, runAt }) => finalizationAt(period, deps.gracePeriodHours) <= runAt,
  );
  return { due: groups.get(true) ?? [], later: groups.get(false) ?? [] };
}

function targetOf(
  contract: Contract,
  periodStart: Instant,
  runAt: Instant,
): (InvoiceTarget & { readonly runAt: Instant })[] {
  const period = billsUsage(contract) ? periodFrom(contract, periodStart) : null;
  return period === null ? [] : [{ contract, period, runAt }];
}
