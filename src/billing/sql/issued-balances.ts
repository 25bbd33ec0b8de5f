/**
 * The meaning of `balances` for analysts, whether they ask the API or read the published rows (docs/reference/sql.md).
 */
import type { Commit } from '../../core/terms/commits.ts';
import type { Balance } from '../../core/terms/ledger.ts';
import type { Instant } from '../../core/time.ts';
import type { PublishedBalance } from '../../store/balances/published-balances.ts';
import type { Transaction } from '../../store/base/database.ts';
import { balancesWithDrafts, withOwners } from '../balance-queries/balances.ts';

/**
 * The commits and credits with their remaining amounts at `now`, after issued invoices, in the same order. Drafts of
 * all customers would be too much to compute. `db` is one snapshot.
 */
export async function issuedBalances(
  db: Transaction,
  commits: readonly Commit[],
  now: Instant,
): Promise<PublishedBalance[]> {
  const read = await issuedLedgers(db, commits, now);
  return read.map(({ commit: { id: commitId, customerId, contractId, type, accessSchedule }, balance }) => {
    const { creditTypeId } = accessSchedule;
    return { commitId, customerId, contractId, type, creditTypeId, balance: balance.balance };
  });
}

/** The same with their ledgers. */
export async function issuedLedgers(
  db: Transaction,
  commits: readonly Commit[],
  now: Instant,
): Promise<Array<{ readonly commit: Commit; readonly balance: Balance }>> {
  const owned = await withOwners(db, commits);
  const balances = await balancesWithDrafts({ db, draftDeductions: [] }, owned, now);
  return owned.map(({ commit }) => {
    const balance = balances.get(commit.id);
    if (balance === undefined) throw new Error(`commit ${commit.id} has no balance`);
    return { commit, balance };
  });
}
