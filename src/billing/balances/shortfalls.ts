/** Loads the input of postpaid commits' shortfalls, besides the amounts taken by invoices. */
import type { Decimal } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { BalanceDeduction } from '../../core/terms/ledger.ts';
import { shortfallOf } from '../../rating/balances/true-up.ts';
import { loadManualEntries } from '../../store/balances/manual-balance-entries.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { loadTransitions } from '../../store/contracts/contract-transitions.ts';
import { amountsTaken, loadRolloverTargets } from './rollovers.ts';

/** By commit. A fixed number of queries. */
export async function loadShortfalls(
  db: Database | Transaction,
  commits: readonly Commit[],
  deductions: readonly BalanceDeduction[],
): Promise<Map<string, Decimal>> {
  if (commits.length === 0) return new Map();
  const contractIds = [...new Set(commits.flatMap(({ contractId }) => contractId ?? []))];
  const transitions = await loadTransitions(db, contractIds);
  const renewals = contractIds.flatMap((id) =>
    (transitions.get(id) ?? []).filter(({ fromContractId }) => fromContractId === id),
  );
  const targets = await loadRolloverTargets(db, renewals);
  const manual = await loadManualEntries(
    db,
    commits.map(({ id }) => id),
  );
  const deductionsOf = groupBy(deductions, ({ commitId }) => commitId);
  return new Map(
    commits.map((commit) => [
      commit.id,
      shortfallOf(commit, {
        deductions: deductionsOf.get(commit.id) ?? [],
        manualEntries: manual.get(commit.id) ?? [],
        rolledOver: amountsTaken(commit, targets.get(commit.contractId ?? '')),
      }),
    ]),
  );
}
