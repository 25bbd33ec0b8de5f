/** The amounts that issued invoices took from balances. */
import { groupBy } from '../../core/group-by.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { BalanceDeduction } from '../../core/terms/ledger.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { loadIssuedDeductions } from '../../store/invoices/balance-deductions.ts';
import { loadDividedCommits } from './seat-shares.ts';

/** Includes voided invoices. Amounts from shares of seats have the segment of the schedule. */
export async function loadFinalDeductions(
  db: Database | Transaction,
  commits: readonly Commit[],
): Promise<BalanceDeduction[]> {
  const issued = await loadIssuedDeductions(
    db,
    commits.map(({ id }) => id),
  );
  if (issued.length === 0) return [];
  const divided = await loadDividedCommits(db, commits);
  const byCommit = groupBy(issued, ({ commitId }) => commitId);
  return commits.flatMap((commit) => {
    const own = byCommit.get(commit.id) ?? [];
    return divided(commit)?.bySegment(own) ?? own;
  });
}
