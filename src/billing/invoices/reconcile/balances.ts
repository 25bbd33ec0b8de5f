/** Whether issued invoices took no more from balances than these had. */
import { sum } from '../../../core/decimal.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import { loadCommits } from '../../../store/balances/commits.ts';
import { loadManualEntries } from '../../../store/balances/manual-balance-entries.ts';
import type { Database } from '../../../store/base/database.ts';
import { loadIssuedDeductions } from '../../../store/invoices/balance-deductions.ts';
import { loadCanceledPurchases } from '../../balances/canceled-purchases.ts';
import { loadDividedCommits } from '../../balances/seat-shares.ts';
import { loadWithheld } from '../../balances/withheld.ts';
import type { Difference } from './difference.ts';
import { segmentAmounts } from './segment-amounts.ts';

/**
 * For each segment of the customer, archived ones too: the deductions of invoices that are not voided do not exceed its
 * amount (`segmentAmounts`). A segment that an edit has removed is not compared.
 */
export async function checkBalances(db: Database, customerId: string): Promise<Difference[]> {
  const commits = await loadCommits(db, { customerIds: [customerId], includeArchived: true });
  const ids = commits.map(({ id }) => id);
  const deductions = (await loadIssuedDeductions(db, ids)).filter(({ creditedAt }) => creditedAt === null);
  const byHand = await loadManualEntries(db, ids);
  const divided = await loadDividedCommits(db, commits);
  const isWithheld = await loadWithheld(db, commits);
  const canceled = await loadCanceledPurchases(db, commits);
  const rollsNothing = (source: Commit, heir: Commit) =>
    isWithheld(source) ||
    [source.archivedAt, canceled.get(source.id)?.at].some((end) => end != null && end < heir.createdAt);
  const amountOf = segmentAmounts({ commits, deductions, byHand, rollsNothing });
  return commits.flatMap((commit) =>
    (divided(commit)?.shares ?? commit.accessSchedule.segments).flatMap((segment): Difference[] => {
      const own = deductions.filter(({ segmentId }) => segmentId === segment.id);
      const expected = amountOf(commit, segment);
      const found = sum(own.map(({ amount }) => amount));
      const last = own.at(-1);
      if (last === undefined || found.lte(expected)) return [];
      return [overdrawn(commit, segment.id, last, { expected, found })];
    }),
  );
}

function overdrawn(
  { name, id }: Commit,
  segmentId: string,
  { invoiceId, contractId }: Pick<Difference, 'invoiceId' | 'contractId'>,
  numbers: Pick<Difference, 'expected' | 'found'>,
): Difference {
  const message = `invoices take more from ${JSON.stringify(name ?? id)}, segment ${segmentId}, than it had`;
  return {
    ...{ code: 'balance', message, invoiceId, contractId, field: 'value', ...numbers },
    ...{ lineNumber: null, lineName: null, window: null },
  };
}
