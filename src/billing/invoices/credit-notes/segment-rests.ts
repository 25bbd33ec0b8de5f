/** The rests of segments that credit notes may take from: after entries and issued invoices, without drafts. */
import { type Decimal, sum, ZERO } from '../../../core/decimal.ts';
import { groupBy } from '../../../core/group-by.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import { loadManualEntries } from '../../../store/balances/manual-balance-entries.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { loadDeductedAmounts } from '../../../store/invoices/balance-deductions.ts';
import { loadDividedCommits } from '../../balances/seat-shares.ts';

/** The segment of a schedule, or the share of a seat in one. */
interface SegmentRest {
  readonly segmentId: string;
  readonly scheduleSegmentId: string;
  readonly endingBefore: number;
  readonly left: Decimal;
}

/** By commit, in the order of the schedule. */
export async function segmentRests(
  tx: Transaction,
  commits: readonly Commit[],
): Promise<(commit: Commit) => SegmentRest[]> {
  const ids = commits.map(({ id }) => id);
  const divided = await loadDividedCommits(tx, commits);
  const entries = await loadManualEntries(tx, ids);
  const deducted = await loadDeductedAmounts(tx, ids);
  return (commit) => {
    const added = groupBy(entries.get(commit.id) ?? [], ({ segmentId }) => segmentId);
    const leftOf = (id: string, amount: Decimal) =>
      amount.plus(sum((added.get(id) ?? []).map((one) => one.amount))).minus(deducted.get(id) ?? ZERO);
    const shares = divided(commit)?.shares ?? null;
    const { segments } = commit.accessSchedule;
    if (shares === null) {
      return segments.map(({ id, amount, endingBefore }) => ({
        ...{ segmentId: id, scheduleSegmentId: id, endingBefore },
        left: leftOf(id, amount),
      }));
    }
    return shares.map(({ id, segment, amount }) => ({
      ...{ segmentId: id, scheduleSegmentId: segment.id, endingBefore: segment.endingBefore },
      left: leftOf(id, amount),
    }));
  };
}
