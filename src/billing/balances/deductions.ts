/** What invoices take from balances. The one place where ledgers and the guards of edits get it from. */
import type { Commit } from '../../core/terms/commits.ts';
import type { BalanceDeduction, TrueUp } from '../../core/terms/ledger.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../../store/database.ts';

/** Of issued invoices, voided ones included. No invoice draws down balances yet. */
export async function loadFinalDeductions(
  _db: Database | Transaction,
  _commits: readonly Commit[],
): Promise<readonly BalanceDeduction[]> {
  return [];
}

/** Of issued invoices and of drafts as they are now. No invoice draws down balances yet. */
export async function loadDeductions(
  db: Database | Transaction,
  commits: readonly Commit[],
  _now: Instant,
): Promise<readonly BalanceDeduction[]> {
  return loadFinalDeductions(db, commits);
}

/** The shortfalls of postpaid commits, issued or not. None is billed yet. */
export async function loadTrueUps(
  _db: Database | Transaction,
  _commits: readonly Commit[],
  _now: Instant,
): Promise<readonly TrueUp[]> {
  return [];
}
