/** Balances that an edit would take from invoices that draw them down (docs/contracts.md, "Edits"). Pure. */
import type { Commit } from '../../../core/terms/commits.ts';
import type { BalanceDeduction } from '../../../core/terms/ledger.ts';
import type { Instant } from '../../../core/time.ts';

interface LostBalances {
  /** All that the edit archives or takes a segment from. */
  readonly commits: readonly Commit[];
  readonly archivedIds: ReadonlySet<string>;
  readonly removedSegmentIds: ReadonlySet<string>;
}

/** Segments that a new end of the contract cuts off are not lost: their invoices stay as they are. */
export function lostBalances(
  before: readonly Commit[],
  after: readonly Commit[],
  contractEnd: Instant | null,
): LostBalances {
  const now = new Map(after.map((commit) => [commit.id, commit]));
  const archivedIds = new Set<string>();
  const removedSegmentIds = new Set<string>();
  const commits = before.filter((commit) => {
    const is = now.get(commit.id) ?? commit;
    const kept = new Set(is.accessSchedule.segments.map(({ id }) => id));
    const removed = commit.accessSchedule.segments.filter(
      ({ id, startingAt }) => !kept.has(id) && (contractEnd === null || startingAt < contractEnd),
    );
    for (const { id } of removed) removedSegmentIds.add(id);
    const isArchived = commit.archivedAt === null && is.archivedAt !== null;
    if (isArchived) archivedIds.add(commit.id);
    return isArchived || removed.length > 0;
  });
  return { commits, archivedIds, removedSegmentIds };
}

/** Null if no invoice that is finalized and not voided draws down what is lost. */
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
