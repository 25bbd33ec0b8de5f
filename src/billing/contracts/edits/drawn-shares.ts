/**
 * Refuses changes of seats in the past that remove from a seat's share an amount that an issued invoice has drawn
 * (docs/explanation/subscriptions.md, "INDIVIDUAL allocation"): the shares would no longer add up to the balance.
 */
import { type Decimal, sum } from '../../../core/decimal.ts';
import { type FieldPath, invalid } from '../../../core/errors.ts';
import { groupBy } from '../../../core/group-by.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import type { FullContract } from '../../../core/terms/contract.ts';
import type { Updates } from '../../../core/terms/contract-edits.ts';
import type { BalanceDeduction } from '../../../core/terms/ledger.ts';
import type { Subscription } from '../../../core/terms/subscriptions.ts';
import type { Instant } from '../../../core/time.ts';
import type { SeatShare } from '../../../rating/balances/seat-shares.ts';
import { formerUnitPrices } from '../../../store/balances/recurring-unit-prices.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { loadIssuedDeductions } from '../../../store/invoices/balance-deductions.ts';
import { type DividedCommit, dividedCommits, type FormerUnitPrices } from '../../balances/seat-shares.ts';

/** Refuses (`invalid`) the first seat that loses its share, naming the field, the seat and the invoice. */
export async function refuseTakenShares(
  tx: Transaction,
  before: FullContract,
  after: FullContract,
  updates: Updates,
): Promise<void> {
  const changes = subscriptionChanges(before, after);
  if (changes.size === 0) return;
  const commits = sharedCommits(before, changes);
  const drawn = (
    await loadIssuedDeductions(
      tx,
      commits.map(({ id }) => id),
    )
  ).filter(({ creditedAt }) => creditedAt === null);
  const byCommit = groupBy(drawn, ({ commitId }) => commitId);
  const former = await formerUnitPrices(
    tx,
    before.terms.recurringCommits.map(({ id }) => id),
  );
  const dividedBefore = dividedOf(before, former);
  const dividedAfter = dividedOf(after, withPricesOf(before, former));
  for (const { id } of commits) {
    const was = dividedBefore(id);
    const kept = sharesBefore(was?.shares ?? [], after.contract.endingBefore);
    const taken = takenShare(kept, dividedAfter(id), byCommit.get(id) ?? []);
    if (was === null || taken === null) continue;
    const { seatId, invoiceId } = taken;
    throw invalid(
      pathOf(updates, was.subscriptionId, seatId),
      `takes the share of seat "${seatId}" in commit or credit ${id}, ` +
        `on which invoice ${invoiceId} has drawn: void the invoice first`,
    );
  }
}

/** For each subscription whose seats or end an edit changes: the first instant of difference. */
function subscriptionChanges(before: FullContract, after: FullContract): Map<string, Instant> {
  const now = new Map(after.terms.subscriptions.map((one) => [one.id, one]));
  return new Map(
    before.terms.subscriptions.flatMap((was): [string, Instant][] => {
      const at = firstDifference(was, now.get(was.id) ?? was);
      return at === null ? [] : [[was.id, at]];
    }),
  );
}

/** Changes of seats are only appended. */
function firstDifference(was: Subscription, is: Subscription): Instant | null {
  const changes = is.seatChanges.slice(was.seatChanges.length).map(({ startingAt }) => startingAt);
  const ends = [was, is].map(({ endingBefore }) => endingBefore ?? Number.POSITIVE_INFINITY);
  const hasOtherEnd = was.endingBefore !== is.endingBefore;
  const all = hasOtherEnd ? [...changes, ...ends] : changes;
  return all.length === 0 ? null : all.reduce((first, at) => Math.min(first, at));
}

/** The children of terms divided among the seats, if they can be used when or after the seats change. */
function sharedCommits({ terms }: FullContract, changes: ReadonlyMap<string, Instant>): Commit[] {
  const changedAt = new Map(
    terms.recurringCommits.flatMap(({ id, subscription }): [string, Instant][] => {
      const at = changes.get(subscription?.subscriptionId ?? '');
      return at === undefined || subscription?.allocation !== 'INDIVIDUAL' ? [] : [[id, at]];
    }),
  );
  return terms.commits.filter(({ recurringCommitId, accessSchedule: { segments } }) => {
    const at = changedAt.get(recurringCommitId ?? '');
    return at !== undefined && segments.some(({ endingBefore }) => endingBefore > at);
  });
}

interface Divided extends Pick<DividedCommit, 'subscriptionId' | 'shares'> {
  readonly segmentIds: ReadonlySet<string>;
}

/** The edit may change unit prices too. Grants that have begun keep the earlier ones. */
function withPricesOf({ terms }: FullContract, former: FormerUnitPrices): FormerUnitPrices {
  return new Map(
    terms.recurringCommits.map(({ id, accessAmount: { unitPrice } }) => [
      id,
      [...(former.get(id) ?? []), { unitPrice, until: Number.POSITIVE_INFINITY }],
    ]),
  );
}

/** The commits of a contract with their division among seats, by id. */
function dividedOf(
  { contract, terms }: FullContract,
  former: FormerUnitPrices,
): (commitId: string) => Divided | null {
  const divided = dividedCommits(terms.recurringCommits, [contract], terms.subscriptions, former);
  const commits = new Map(terms.commits.map((commit) => [commit.id, commit]));
  return (commitId) => {
    const commit = commits.get(commitId);
    const found = commit === undefined ? null : divided(commit);
    if (commit === undefined || found === null) return null;
    return { ...found, segmentIds: new Set(commit.accessSchedule.segments.map(({ id }) => id)) };
  };
}

/** Amounts that seats take after a new end of the contract are cut off with it; its invoices do not change. */
function sharesBefore(shares: readonly SeatShare[], contractEnd: Instant | null): SeatShare[] {
  const end = contractEnd ?? Number.POSITIVE_INFINITY;
  return shares.filter(({ access }) => access.some(({ start }) => start < end));
}

interface TakenShare {
  readonly seatId: string;
  readonly invoiceId: string;
}

/**
 * A seat keeps the drawn amount if it has a share of the same segment that is at least as large. A missing segment was
 * removed by the edit (drawn-terms.ts) or cut off by the end of the contract.
 */
function takenShare(
  before: readonly SeatShare[],
  after: Divided | null,
  drawn: readonly BalanceDeduction[],
): TakenShare | null {
  if (drawn.length === 0 || after === null) return null;
  const byShare = groupBy(drawn, ({ segmentId }) => segmentId);
  const kept = new Map(after.shares.map((share) => [share.id, share]));
  for (const { id, seatId, segment, amount } of before) {
    const own = byShare.get(id) ?? [];
    const [first] = own;
    if (first === undefined || !after.segmentIds.has(segment.id)) continue;
    const used = sum(own.map((one) => one.amount));
    if (!holds(kept.get(id), segment.id, used.gt(amount) ? amount : used)) {
      return { seatId, invoiceId: first.invoiceId };
    }
  }
  return null;
}

function holds(share: SeatShare | undefined, segmentId: string, used: Decimal): boolean {
  return share !== undefined && share.segment.id === segmentId && share.amount.gte(used);
}

/**
 * The part of the edit that removes the share: the removal of the seat, else the other changes of seats, else an
 * earlier end.
 */
function pathOf({ updateSubscriptions }: Updates, subscriptionId: string, seatId: string): FieldPath {
  for (const [index, { id, seatUpdates, endingBefore }] of updateSubscriptions.entries()) {
    if (id !== subscriptionId) continue;
    const path = ['updates', 'updateSubscriptions', index];
    if (seatUpdates !== undefined) {
      const removal = seatUpdates.remove.findIndex(({ seatIds }) => seatIds.includes(seatId));
      return [...path, 'seatUpdates', ...(removal === -1 ? [] : ['remove', removal, 'seatIds'])];
    }
    if (endingBefore !== undefined) return [...path, 'endingBefore'];
  }
  // No other part of an edit changes a subscription before the contract's end.
  return ['updates', 'updateSubscriptions'];
}
