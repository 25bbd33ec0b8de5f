/**
 * Creates the children of recurring commits and credits when they are due (docs/explanation/contracts.md, "Recurring
 * commits and credits"). Each contract has one job, at the start of its last child: then the next one is created, a
 * period ahead. A change of the contract creates its own (settle-contract.ts).
 *
 * Lock order: this job's row, then rows of scheduled invoices. The job locks no contract, since changes of contracts
 * wait for the job.
 */
import { z } from 'zod';
import { CLOCK_BOUNDS } from '../../../core/clock.ts';
import { Refusal } from '../../../core/errors.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import type { Contract, FullContract } from '../../../core/terms/contract.ts';
import type { Instant } from '../../../core/time.ts';
import { type Granted, publishGrants } from '../../../notifications/lifecycle-messages.ts';
import type { Upcoming } from '../../../notifications/upcoming.ts';
import { grantStart } from '../../../rating/balances/recurring-grants.ts';
import { insertCommits } from '../../../store/balances/commits.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { loadInvoicedItems } from '../../../store/invoices/invoiced-items.ts';
import { enqueueJobs, holdJobs, type Job, type NewJob, removeJobs } from '../../../store/jobs/jobs.ts';
import type { RowContext } from '../../billing-context.ts';
import { queueScheduledInvoices } from '../../invoice-queue/scheduled-jobs.ts';
import {
  GRANT_JOB,
  type GrantChange,
  type Granting,
  grantingOf,
  type LastGrants,
  lastGrantsIn,
  missingGrants,
  nextGrantAt,
  upcomingGrants,
  withGrants,
} from './granted-terms.ts';
import { loadGrantings } from './load-grantings.ts';
import { rollOverGrants } from './roll-over-grants.ts';
import { upcomingOf } from './upcoming-grants.ts';

/** Maximum children of one contract in one transaction; the next job continues with the others. */
const GRANTS_PER_JOB_MAX = 200;

/** `told_ahead` is absent in jobs of versions that reported children only when they were created. */
const payloadSchema = z.object({ contract_id: z.uuid(), told_ahead: z.boolean().default(false) });

/** A late job queues the next one at once; the maximum that is awaited in a row. */
const JOBS_AWAITED_MAX = 50;

/**
 * Prevents the creation of children of the contracts until the transaction ends. Waits for a running job. Refuses
 * (`unavailable`) if other processes keep creating them.
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

/**
 * Queues the next child of each of the contracts in their current state, replacing queued ones. Returns the upcoming
 * children of contracts with recurring terms.
 */
export async function planGrants(
  tx: Transaction,
  contracts: readonly FullContract[],
  now: Instant,
): Promise<Upcoming[]> {
  const recurring = contracts.filter(({ terms }) => terms.recurringCommits.length > 0);
  await removeJobs(
    tx,
    GRANT_JOB,
    recurring.map(({ contract }) => contract.id),
  );
  const planned = recurring.map((full) =>
    planOf(grantingOf(full), lastGrantsIn(full), { now, dueAfter: now }),
  );
  await enqueueJobs(
    tx,
    planned.flatMap(({ next }) => next),
  );
  return planned.map(({ upcoming }) => upcoming);
}

interface GrantPlan {
  /** Empty if all children are created. */
  readonly next: readonly NewJob[];
  readonly upcoming: Upcoming;
}

/** Messages due by `dueAfter` are no longer sent. */
function planOf(
  granting: Granting,
  last: LastGrants,
  { now, dueAfter }: { readonly now: Instant; readonly dueAfter: Instant },
): GrantPlan {
  const runAt = nextGrantAt(granting, last, now);
  const upcoming = upcomingOf(granting, last, { dueAfter, dueUntil: runAt });
  if (runAt === null) return { next: [], upcoming };
  const { id } = granting.contract;
  const payload = { contract_id: id, told_ahead: true } satisfies z.input<typeof payloadSchema>;
  return { next: [{ kind: GRANT_JOB, key: id, subject: id, runAt, payload }], upcoming };
}

/**
 * The same changes in the same order, including the children that recurring terms of their contracts create by then.
 * Idempotent.
 */
export async function withGrantsOf<Change extends GrantChange>(
  tx: Transaction,
  changes: readonly Change[],
  now: Instant,
): Promise<Change[]> {
  const upcoming = changes.flatMap(({ before, after }) =>
    before === null ? [] : upcomingGrants(after, now),
  );
  const invoiced = await loadInvoicedItems(tx, upcoming.flatMap(itemIds));
  const bought = upcoming.filter((child) => itemIds(child).some((id) => invoiced.has(id)));
  const boughtIds = new Set(bought.map(({ id }) => id));
  return changes.map((change) => ({ ...change, after: withGrants(change, boughtIds, now) }));
}

function itemIds({ invoiceSchedule }: Commit): string[] {
  return invoiceSchedule?.items.map(({ id }) => id) ?? [];
}

/** Runs due jobs: creates children that are due, and queues the next ones. Returns the commits and credits. */
export async function createGrants(
  { clock }: RowContext,
  tx: Transaction,
  jobs: readonly Job[],
): Promise<Commit[]> {
  const now = clock.now();
  const dueAfter = new Map(jobs.map(toldBy));
  const { grantings, last } = await loadGrantings(tx, [...dueAfter.keys()]);
  const created = grantings.map((granting) => {
    const { contract, recurring } = granting;
    const children = missingGrants(granting, last, { now, max: GRANTS_PER_JOB_MAX });
    for (const child of children) last.set(child.recurringCommitId ?? '', grantStart(child));
    const told = { now, dueAfter: dueAfter.get(contract.id) ?? now };
    return { contract, recurring, children, plan: planOf(granting, last, told) };
  });
  const children = created.flatMap((one) => one.children);
  await insertCommits(tx, children);
  const rolledOver = await rollOverGrants(tx, created);
  await publishGrants(
    tx,
    [
      ...created.flatMap((one) => one.children.map((commit) => grantedBy(one.plan, commit))),
      ...rolledOver.map((commit) => ({ commit, dueAfter: now })),
    ],
    created.map(({ plan }) => plan.upcoming),
    now,
  );
  await queueScheduledInvoices(tx, created.flatMap(firstPurchase));
  await enqueueJobs(
    tx,
    created.flatMap(({ plan }) => plan.next),
  );
  return [...children, ...rolledOver];
}

/** Messages that were due by a job's instant were scheduled when the job was queued. */
function toldBy({ payload, runAt }: Job): [contractId: string, dueAfter: Instant] {
  const { contract_id, told_ahead } = payloadSchema.parse(payload);
  return [contract_id, told_ahead ? runAt : CLOCK_BOUNDS.start];
}

function grantedBy({ upcoming: { dueAfter } }: GrantPlan, commit: Commit): Granted {
  return { commit, dueAfter };
}

/** When the first of the children is invoiced; empty for children that are not. */
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
