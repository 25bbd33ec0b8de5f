/** What issued invoices took from balances. */
import type { Commit } from '../../core/terms/commits.ts';
import type { BalanceDeduction } from '../../core/terms/ledger.ts';
import { loadIssuedDeductions } from '../../store/balance-deductions.ts';
import type { Database, Transaction } from '../../store/database.ts';

/** Voided invoices included. */
export function loadFinalDeductions(
  db: Database | Transaction,
  commits: readonly Commit[],
): Promise<BalanceDeduction[]> {
  return loadIssuedDeductions(
    db,
    commits.map(({ id }) => id),
  );
}
