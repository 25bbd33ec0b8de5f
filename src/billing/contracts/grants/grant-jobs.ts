/**
 * Creates the children of recurring commits and credits when their time comes (docs/contracts.md, "Recurring commits
 * and credits"). Each contract has one job, at the start of its last child: then the next one is created, a period
 * ahead. A change of the contract creates its own (settle-contract.ts).
 *
 * Lock order: this job's row, then rows of scheduled invoices. The job locks no contract, since changes of contracts
 * wait for the job.
 */
import { z } from 'zod';
import type { Clock } from '../../../core/clock.ts';
import { Refusal } from '../../../core/errors.ts';
import { groupBy } from '../../../core/group-by.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import type { Contract, FullContract } from '../../../core/terms/contract.ts';
import type { Instant } from '../../../core/time.ts';
import { publishCommitChanges } from '../../../notifications/lifecycle-messages.ts';
import { grantStart } from '../../../rating/balances/recurring-grants.ts';
import { insertCommits } from '../../../store/commits.ts';
import { loadContracts } from '../../../store/contracts.ts';
import type { Transaction } from '../../../store/database.ts';
import { enqueueJobs, holdJobs, type Job, type NewJob, removeJobs } from '../../../store/jobs.ts';
import { loadRecurringCommits } from '../../../store/recurring-commits.ts';
import { loadLastGrants } from '../../../store/recurring-grants.ts';
import { loadSubscriptions } from '../../../store/subscriptions.ts';
import { queueScheduledInvoices } from '../../invoices/scheduled/issue.ts';
import {
  type Granting,
  grantingOf,
  type LastGrants,
  lastGrantsIn,
  missingGrants,
  nextGrantAt,
} from './granted-terms.ts';
import { rollOverGrants } from './roll-over-grants.ts';

/** The kind of the jobs. */
export const GRANT_JOB = 'create_recurring_commits';

/** Of one contract in one transaction; the next job goes on with the others. */
const GRANTS_PER_JOB_MAX = 200;

const payloadSchema = z.object({ contract_id: z.uuid() });

/** A job that is behind queues the next one at once; most of them awaited in a row. */
const JOBS_AWAITED_MAX = 50;

/**
 * Prevents that children of the contracts are created until the transaction ends. Waits for a job in progress.
 * Refuses (`unavailable`) if other processes keep creating them.
 */
export async function holdGrants(tx: Transaction, contractIds: readonly string[]): Promise<void> {
  const held = new Set<number>();
  for (let round = 0; round < JOBS_AWAITED_MAX; round += 1) {
    // A job that was awaited may have queued the next one.
    const found = await holdJobs(tx, GRANT_JOB, contractIds);
    if (found.every((id) => held.has(id))) return;
    for (const id of found) held.add(id);
  }
  throw new Refusal('unavailable', 'recurring commits of these contracts are being created: try again later');
}

/** Queues the next child of each of the contracts, as they are now, in place of what was queued. */
export async function planGrants(
  tx: Transaction,
  contracts: readonly FullContract[],
  now: Instant,
): Promise<void> {
  const recurring = contracts.filter(({ terms }) => terms.recurringCommits.length > 0);
  await removeJobs(
    tx,
    GRANT_JOB,
    recurring.map(({ contract }) => contract.id),
  );
  await enqueueJobs(
    tx,
    recurring.flatMap((full) => nextJob(grantingOf(full), lastGrantsIn(full), now)),
  );
}

function nextJob(granting: Granting, last: LastGrants, now: Instant): NewJob[] {
  const runAt = nextGrantAt(granting, last, now);
  if (runAt === null) return [];
  const { id } = granting.contract;
  return [{ kind: GRANT_JOB, key: id, subject: id, runAt, payload: { contract_id: id } }];
}

export interface GrantDeps {
  readonly clock: Clock;
}

/** Runs due jobs: creates what is missing by now, and queues the next ones. Returns the commits and credits. */
export async function createGrants(
  { clock }: GrantDeps,
  tx: Transaction,
  jobs: readonly Job[],
): Promise<Commit[]> {
  const now = clock.now();
  const ids = jobs.map(({ payload }) => payloadSchema.parse(payload).contract_id);
  const contracts = await loadContracts(tx, { ids });
  const recurring = await loadRecurringCommits(
    tx,
    contracts.map(({ id }) => id),
  );
  const last = await loadLastGrants(
    tx,
    recurring.map(({ id }) => id),
  );
  const byContract = groupBy(recurring, ({ contractId }) => contractId);
  const linked = recurring.filter(({ subscription }) => subscription !== null);
  const subscriptions = groupBy(
    await loadSubscriptions(tx, [...new Set(linked.map(({ contractId }) => contractId))]),
    ({ contractId }) => contractId,
  );
  const next: NewJob[] = [];
  const created = contracts.map((contract) => {
    const own = byContract.get(contract.id) ?? [];
    const granting = { contract, recurring: own, subscriptions: subscriptions.get(contract.id) ?? [] };
    const children = missingGrants(granting, last, { now, max: GRANTS_PER_JOB_MAX });
    for (const child of children) last.set(child.recurringCommitId ?? '', grantStart(child));
    next.push(...nextJob(granting, last, now));
    return { contract, recurring: own, children };
  });
  const children = created.flatMap((one) => one.children);
  await insertCommits(tx, children);
  const rolledOver = await rollOverGrants(tx, created);
  const all = [...children, ...rolledOver];
  await publishCommitChanges(
    tx,
    all.map((after) => ({ before: null, after })),
    now,
  );
  await queueScheduledInvoices(tx, created.flatMap(firstPurchase));
  await enqueueJobs(tx, next);
  return all;
}

/** When the first of the children is invoiced; nothing for children that are not. */
function firstPurchase({
  contract,
  children,
}: {
  readonly contract: Contract;
  readonly children: readonly Commit[];
}): { readonly contractId: string; readonly at: Instant }[] {
  const dates = children.flatMap(({ invoiceSchedule }) =>
    (invoiceSchedule?.items ?? []).map(({ timestamp }) => timestamp),
  );
  return dates.length === 0 ? [] : [{ contractId: contract.id, at: Math.min(...dates) }];
}
