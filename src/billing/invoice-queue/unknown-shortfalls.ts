/**
 * True-ups of commits that earlier versions of the service stored without drawing them down. The amount that their
 * usage would have taken is unknown, so nothing is billed for them (docs/explanation/drawdown.md, "True-ups").
 */
import type { Commit } from '../../core/terms/commits.ts';
import { intersect } from '../../core/time.ts';
import type { ScheduledItem } from '../../rating/scheduled/scheduled-items.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { type UndrawnPeriod, undrawnPeriods } from '../../store/invoices/issued-periods.ts';

/** The ids of items whose commit has usage on an issued invoice that took nothing from balances. */
export async function unknownShortfalls(
  db: Database | Transaction,
  items: readonly ScheduledItem[],
): Promise<ReadonlySet<string>> {
  const trueUps = items.filter(({ trueUpCommitId }) => trueUpCommitId !== null);
  if (trueUps.length === 0) return new Set();
  const ids = trueUps.flatMap(({ trueUpCommitId }) => trueUpCommitId ?? []);
  const commits = await loadCommits(db, { ids, includeArchived: false });
  const periods = await undrawnPeriods(db, [...new Set(commits.map(({ customerId }) => customerId))]);
  const unknown = new Set(
    commits
      .filter((commit) => periods.some((period) => mayHaveDrawn(period, commit)))
      .map((commit) => commit.id),
  );
  return new Set(trueUps.filter((item) => unknown.has(item.trueUpCommitId ?? '')).map((item) => item.id));
}

function mayHaveDrawn(period: UndrawnPeriod, commit: Commit): boolean {
  const { customerId, contractId, applicableContractIds, accessSchedule } = commit;
  const isOfContract =
    contractId === null
      ? period.customerId === customerId &&
        (applicableContractIds.length === 0 || applicableContractIds.includes(period.contractId))
      : period.contractId === contractId;
  return (
    isOfContract &&
    accessSchedule.segments.some(
      ({ startingAt: start, endingBefore: end }) => intersect(period.interval, { start, end }) !== null,
    )
  );
}
