/** Whether issued invoices took no more from balances than these had. */
import { sum } from '../../../core/decimal.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import { loadIssuedDeductions } from '../../../store/balance-deductions.ts';
import { loadCommits } from '../../../store/commits.ts';
import type { Database } from '../../../store/database.ts';
import { loadManualEntries } from '../../../store/manual-balance-entries.ts';
import { loadDividedCommits } from '../../balances/seat-shares.ts';
import type { Difference } from './difference.ts';

/**
 * For each segment of the customer, archived ones too: what invoices took that are not voided is not more than its
 * amount with entries by hand. An entry by hand may take more than is left; where the entries come to less than 0, the
 * amount alone counts. A segment that an edit has removed is not compared.
 */
export async function checkBalances(db: Database, customerId: string): Promise<Difference[]> {
  const commits = await loadCommits(db, { customerIds: [customerId], includeArchived: true });
  const ids = commits.map(({ id }) => id);
  const deductions = (await loadIssuedDeductions(db, ids)).filter(({ creditedAt }) => creditedAt === null);
  const byHand = await loadManualEntries(db, ids);
  const divided = await loadDividedCommits(db, commits);
  return commits.flatMap((commit) =>
    (divided(commit)?.shares ?? commit.accessSchedule.segments).flatMap((segment): Difference[] => {
      const own = deductions.filter(({ segmentId }) => segmentId === segment.id);
      const entries = (byHand.get(commit.id) ?? []).filter(({ segmentId }) => segmentId === segment.id);
      const added = sum(entries.map(({ amount }) => amount));
      const expected = added.lt('0') ? segment.amount : segment.amount.plus(added);
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
