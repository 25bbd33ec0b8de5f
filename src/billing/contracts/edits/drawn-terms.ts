/** Detects edits that would remove balances drawn down by invoices (docs/explanation/contracts.md, "Edits"). Pure. */
import { type Decimal, sum } from '../../../core/decimal.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import type { BalanceDeduction, ManualEntry } from '../../../core/terms/ledger.ts';
import type { AccessSegment } from '../../../core/terms/schedules.ts';
import type { Instant } from '../../../core/time.ts';

interface LostBalances {
  /** Commits that the edit archives, lowers, or removes a segment from. */
  readonly commits: readonly Commit[];
  readonly archivedIds: ReadonlySet<string>;
  readonly removedSegmentIds: ReadonlySet<string>;
  /** Segments whose amount is lower after the edit, with the new amount. */
  readonly lowered: readonly (AccessSegment & { readonly commitId: string })[];
}

/** Segments that a new end of the contract cuts off are not lost: their invoices do not change. */
export function lostBalances(
  before: readonly Commit[],
  after: readonly Commit[],
  contractEnd: Instant | null,
): LostBalances {
  const now = new Map(after.map((commit) => [commit.id, commit]));
  const archivedIds = new Set<string>();
  const removedSegmentIds = new Set<string>();
  const lowered: LostBalances['lowered'][number][] = [];
  const commits = before.filter((commit) => {
    const is = now.get(commit.id) ?? commit;
    const kept = new Map(is.accessSchedule.segments.map((segment) => [segment.id, segment]));
    const lower = commit.accessSchedule.segments.flatMap(({ id, amount }) => {
      const segment = kept.get(id);
      return segment?.amount.lt(amount) ? [{ ...segment, commitId: commit.id }] : [];
    });
    lowered.push(...lower);
    const removed = commit.accessSchedule.segments.filter(
      ({ id, startingAt }) => !kept.has(id) && (contractEnd === null || startingAt < contractEnd),
    );
    for (const { id } of removed) removedSegmentIds.add(id);
    const isArchived = commit.archivedAt === null && is.archivedAt !== null;
    if (isArchived) archivedIds.add(commit.id);
    return isArchived || removed.length + lower.length > 0;
  });
  return { commits, archivedIds, removedSegmentIds, lowered };
}

/** Null if no active finalized invoice draws down a lost balance. */
export function drawnProblem(
  { archivedIds, removedSegmentIds }: LostBalances,
  deductions: readonly BalanceDeduction[],
): string | null {
  for (const { commitId, segmentId, invoiceId, isFinal, creditedAt } of deductions) {
    const isArchived = archivedIds.has(commitId);
    if (!isFinal || creditedAt !== null || !(isArchived || removedSegmentIds.has(segmentId))) continue;
    const lost = isArchived
      ? `commit or credit ${commitId} cannot be archived`
      : `segment ${segmentId} of commit or credit ${commitId} cannot be removed`;
    return `${lost}: invoice ${invoiceId}, which is finalized, draws it down: void the invoice first`;
  }
  return null;
}

/**
 * Null if each lowered segment still covers the amounts drawn by active finalized invoices, including manual entries.
 */
export function loweredProblem(
  { lowered }: LostBalances,
  deductions: readonly BalanceDeduction[],
  byHand: readonly Pick<ManualEntry, 'segmentId' | 'amount'>[],
): string | null {
  for (const { id, commitId, amount } of lowered) {
    const own = deductions.filter((one) => one.segmentId === id && one.isFinal && one.creditedAt === null);
    const [first] = own;
    const used = amountOf(own);
    if (first === undefined || used.lte(amount.plus(amountOf(byHand.filter((one) => one.segmentId === id)))))
      continue;
    return (
      `segment ${id} of commit or credit ${commitId} cannot be lowered to ${amount.toFixed()}: finalized invoices, ` +
      `such as ${first.invoiceId}, have drawn ${used.toFixed()} from it: void them first`
    );
  }
  return null;
}

function amountOf(entries: readonly { readonly amount: Decimal }[]): Decimal {
  return sum(entries.map(({ amount }) => amount));
}
