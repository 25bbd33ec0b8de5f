/**
 * Plans the finalization of usage invoices: after the end of a billing period and its grace period, a job stores the
 * draft as an immutable invoice and queues the job of the next period. The work of the job is in finalize.ts.
 */
import { Refusal } from '../../core/errors.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { sentTogether } from '../../store/base/sent-together.ts';
import type { Contract } from '../../store/contracts/contracts.ts';
import { lastIssuedPeriodEnds } from '../../store/invoices/issued-periods.ts';
import { enqueueJobs, holdJobs, type NewJob, removeJobs } from '../../store/jobs/jobs.ts';
import { requireEventsOf } from './require-events.ts';
import {
  billsUsage,
  finalizationAt,
  type InvoiceTarget,
  nextUnissuedPeriod,
  periodTerms,
} from './usage-periods.ts';

/** The kind of the finalization jobs. */
export const FINALIZATION_JOB = 'finalize_usage_invoice';

/** A contract that this transaction created (`before` null) or changed. */
export interface HeaderChange {
  readonly before: Contract | null;
  readonly after: Contract;
}

/**
 * Queues the finalization of the first unissued period for each contract whose billing periods changed; without such a
 * period, there is no job. A period that now ends earlier is finalized earlier. One that ends later is postponed when
 * its job runs. If a contract is no longer billed, no invoice is finalized from now on; a running finalization is
 * awaited. Refuses (`invalid`) a period whose events were removed.
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
  const created = replanned.flatMap((change) => (change.before === null ? change.after : []));
  const edited = replanned.flatMap((change) => (change.before === null ? [] : change.after));
  // A new contract has no issued invoice.
  const targets = [...targetsAfter(created, new Map()), ...(await nextTargets(tx, edited))];
  // Jobs that were queued for a refused period are rolled back with the transaction.
  await sentTogether(
    () => requireEventsOf(tx, targets),
    () => replaceJobs(tx, before, targets, gracePeriodHours),
  );
}

/** Replaces the jobs of the contracts' former states by those of the targets. */
async function replaceJobs(
  tx: Transaction,
  before: readonly Contract[],
  targets: readonly InvoiceTarget[],
  gracePeriodHours: number,
): Promise<void> {
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
 * Prevents the finalization of an invoice until the transaction ends. Waits for a running finalization. An invoice
 * whose predecessor is not issued has no job yet, so it is not finalized either.
 */
export async function holdFinalization(tx: Transaction, target: InvoiceTarget): Promise<void> {
  await holdJobs(tx, FINALIZATION_JOB, [jobKey(target)]);
}

/** Each finalization of an overdue contract queues the next; the maximum that is awaited in a row. */
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
  return targetsAfter(billed, issuedUntil);
}

function targetsAfter(
  contracts: readonly Contract[],
  issuedUntil: ReadonlyMap<string, Instant>,
): InvoiceTarget[] {
  return contracts.filter(billsUsage).flatMap((contract) => {
    const period = nextUnissuedPeriod(contract, issuedUntil.get(contract.id));
    return period === null ? [] : [{ contract, period }];
  });
}

export function finalizationJob({ contract, period }: InvoiceTarget, gracePeriodHours: number): NewJob {
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
