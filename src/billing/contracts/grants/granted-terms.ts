/**
 * A contract with the commits and credits created by its recurring terms, their children
 * (docs/explanation/contracts.md, "Recurring commits and credits"). Pure.
 */
import type { Commit } from '../../../core/terms/commits.ts';
import type { Contract, FullContract } from '../../../core/terms/contract.ts';
import type { RecurringCommit } from '../../../core/terms/recurring-commits.ts';
import type { Subscription } from '../../../core/terms/subscriptions.ts';
import type { Instant } from '../../../core/time.ts';
import { grantStart, recurringGrantAt, recurringGrants } from '../../../rating/balances/recurring-grants.ts';
import { withSeatIncreases } from './seat-increases.ts';

/** The kind of the jobs that create children. A contract has one while it has children to create. */
export const GRANT_JOB = 'create_recurring_commits';

/** Maximum children of a contract that one transaction creates. The job creates the others, batch by batch. */
const GRANTS_PER_CHANGE_MAX = 1_000;

/** By recurring term, the start of the last period with a child. */
export type LastGrants = ReadonlyMap<string, Instant>;

export function lastGrantsIn({ terms }: FullContract): LastGrants {
  const last = new Map<string, Instant>();
  for (const commit of terms.commits) {
    const { recurringCommitId: id } = commit;
    if (id !== null) last.set(id, Math.max(grantStart(commit), last.get(id) ?? Number.NEGATIVE_INFINITY));
  }
  return last;
}

/** A contract with the data that determine its children. */
export interface Granting {
  readonly contract: Contract;
  readonly recurring: readonly RecurringCommit[];
  readonly subscriptions: readonly Subscription[];
}

export function grantingOf({ contract, terms }: FullContract): Granting {
  return { contract, recurring: terms.recurringCommits, subscriptions: terms.subscriptions };
}

/** The first `max` missing children of the periods that have begun, and of the next one; by their start. */
export function missingGrants(
  { contract, recurring, subscriptions }: Granting,
  last: LastGrants,
  { now, max }: { readonly now: Instant; readonly max: number },
): Commit[] {
  if (contract.archivedAt !== null) return [];
  return recurring
    .flatMap((term) =>
      recurringGrants(term, contract, subscriptions, { at: now, after: last.get(term.id) ?? null }),
    )
    .sort((a, b) => grantStart(a) - grantStart(b))
    .slice(0, max);
}

/**
 * When the next child is created: as soon as the last one begins, so that one is always ahead. Null if there are no
 * more.
 */
export function nextGrantAt(
  { contract, recurring, subscriptions }: Granting,
  last: LastGrants,
  now: Instant,
): Instant | null {
  if (contract.archivedAt !== null) return null;
  const due = recurring.flatMap((term) => {
    const known = last.get(term.id) ?? null;
    const isLast =
      recurringGrants(term, contract, subscriptions, { at: known ?? now, after: known }).length === 0;
    return isLast ? [] : [known ?? Math.min(now, term.startingAt)];
  });
  return due.length === 0 ? null : Math.min(...due);
}

/** Children whose access has not started. */
export function upcomingGrants({ contract, terms }: FullContract, now: Instant): Commit[] {
  if (contract.archivedAt !== null) return [];
  return terms.commits.filter(
    (commit) => commit.recurringCommitId !== null && grantStart(commit) > now && commit.archivedAt === null,
  );
}

/** A change of a contract. */
export interface GrantChange {
  /** Null for a new contract. */
  readonly before: FullContract | null;
  readonly after: FullContract;
}

/**
 * The contract after the change, including missing children. Children whose access has not started follow the changed
 * terms. Those in `bought`, by id, are on an issued invoice and do not change.
 */
export function withGrants(
  { before, after }: GrantChange,
  bought: ReadonlySet<string>,
  now: Instant,
): FullContract {
  const free = before === null ? [] : upcomingGrants(after, now).filter(({ id }) => !bought.has(id));
  const followers = new Map(free.map((child) => [child.id, followed(child, { before, after })]));
  const others = after.terms.commits.filter(({ id }) => !followers.has(id));
  for (const child of withSeatIncreases(others, { before, after }, now)) followers.set(child.id, child);
  const added = missingGrants(grantingOf(after), lastGrantsIn(after), {
    now,
    max: GRANTS_PER_CHANGE_MAX,
  });
  if (followers.size + added.length === 0) return after;
  const commits = [...after.terms.commits.map((one) => followers.get(one.id) ?? one), ...added];
  return { ...after, terms: { ...after.terms, commits } };
}

/** Only the members that the change altered, so that other edits of the child itself are kept. */
function followed(child: Commit, { before, after }: GrantChange): Commit {
  const was = before === null ? null : grantOf(before, child);
  const is = grantOf(after, child);
  if (is === null) return was === null || isCutOff(child, after.contract) ? child : withoutPeriod(child);
  if (was === null) return is;
  const { accessSchedule: access, invoiceSchedule: invoice } = child;
  return {
    ...child,
    rateType: was.rateType === is.rateType ? child.rateType : is.rateType,
    accessSchedule: isSame(was.accessSchedule, is.accessSchedule) ? access : is.accessSchedule,
    invoiceSchedule: isSame(was.invoiceSchedule, is.invoiceSchedule) ? invoice : is.invoiceSchedule,
  };
}

function grantOf({ contract, terms }: FullContract, child: Commit): Commit | null {
  const term = terms.recurringCommits.find(({ id }) => id === child.recurringCommitId);
  return term === undefined ? null : recurringGrantAt(term, contract, terms.subscriptions, grantStart(child));
}

/** The contract's end has removed it, unless it has rolled over (truncate-terms.ts, transitions.ts). */
function isCutOff(child: Commit, { endingBefore }: Contract): boolean {
  return endingBefore !== null && grantStart(child) >= endingBefore;
}

/** Like a commit whose access the contract's end removed: nothing to use, and nothing to pay. */
function withoutPeriod(child: Commit): Commit {
  const { accessSchedule, invoiceSchedule } = child;
  return {
    ...child,
    accessSchedule: { ...accessSchedule, segments: [] },
    invoiceSchedule: invoiceSchedule === null ? null : { ...invoiceSchedule, items: [] },
  };
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
