/** Sets the shortfalls of SCHEDULED invoices with true-ups; the others are unchanged. */
import { type Decimal, ONE, ZERO } from '../../../core/decimal.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import type { BalanceDeduction } from '../../../core/terms/ledger.ts';
import type { ScheduledItem } from '../../../rating/scheduled/scheduled-items.ts';
import { loadCommits } from '../../../store/balances/commits.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { loadFinalDeductions } from '../../balances/final-deductions.ts';
import { loadShortfalls } from '../../balances/shortfalls.ts';
import type { SnapshotContext } from '../../billing-context.ts';
import type { ScheduledTarget } from '../../invoice-queue/open-items.ts';
import { loadDeductionsIn } from './deductions.ts';

/**
 * The current shortfalls, after the drafts of usage invoices. Drops targets without a shortfall. Drafts are computed
 * only if some target is a true-up.
 */
export function withShortfalls(
  context: SnapshotContext,
  targets: readonly ScheduledTarget[],
): Promise<ScheduledTarget[]> {
  return replaced(context.db, targets, (commits) => loadDeductionsIn(context, commits));
}

/** After issued invoices only, for true-ups whose usage invoices are all issued. */
export function withFinalShortfalls(
  tx: Transaction,
  targets: readonly ScheduledTarget[],
): Promise<ScheduledTarget[]> {
  return replaced(tx, targets, (commits) => loadFinalDeductions(tx, commits));
}

async function replaced(
  db: Transaction,
  targets: readonly ScheduledTarget[],
  deductionsOf: (commits: readonly Commit[]) => Promise<BalanceDeduction[]>,
): Promise<ScheduledTarget[]> {
  const ids = targets.flatMap(({ trueUpCommitId }) => trueUpCommitId ?? []);
  if (ids.length === 0) return [...targets];
  const commits = await loadCommits(db, { ids, includeArchived: true });
  const shortfalls = await loadShortfalls(db, commits, await deductionsOf(commits));
  return targets.flatMap((target) => {
    const { trueUpCommitId } = target;
    if (trueUpCommitId === null) return [target];
    const shortfall = shortfalls.get(trueUpCommitId) ?? ZERO;
    if (shortfall.eq(ZERO)) return [];
    return [{ ...target, items: target.items.map((item) => billing(item, shortfall)) }];
  });
}

function billing(item: ScheduledItem, shortfall: Decimal): ScheduledItem {
  return { ...item, quantity: ONE, unitPrice: shortfall, total: shortfall };
}
