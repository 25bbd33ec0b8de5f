/** Lists commits and credits of a customer, with all data that answers show. */
import type { Decimal } from '../../core/decimal.ts';
import { ZERO } from '../../core/decimal.ts';
import { invalid, notFound } from '../../core/errors.ts';
import { type Page, type PageRequest, pageWithRows } from '../../core/paging.ts';
import type { Commit } from '../../core/terms/commits.ts';
import { addedTerms, NO_CHANGES } from '../../core/terms/contract-edits.ts';
import type { Balance } from '../../core/terms/ledger.ts';
import type { RecurringCommit } from '../../core/terms/recurring-commits.ts';
import {
  type BalanceListFilter,
  type CommitPosition,
  commitPosition,
  listCommits,
} from '../../store/balances/commit-list.ts';
import { loadRecurringCommits } from '../../store/balances/recurring-commits.ts';
import type { Database } from '../../store/base/database.ts';
import { loadContracts } from '../../store/contracts/contracts.ts';
import { customerExists } from '../../store/customers/customers.ts';
import { loadRateCards } from '../../store/rate-cards/rate-cards.ts';
import type { BillingContext } from '../billing-context.ts';
import { loadNames, type TermNames } from '../contracts/term-names.ts';
import { isRollover, shownBalances, withOwners, withRollovers } from './balances.ts';
import { costBasesOf } from './cost-bases.ts';

export interface ListBalancesInput extends BalanceListFilter {
  /** Whether balances and ledgers are computed. */
  readonly withBalances: boolean;
  /** Skips those with no remaining balance: a page may then have fewer rows than its limit (`pageWithRows`). */
  readonly excludeZeroBalances: boolean;
}

export interface BalancePage {
  readonly page: Page<Commit, CommitPosition>;
  readonly names: TermNames;
  readonly recurringCommits: ReadonlyMap<string, RecurringCommit>;
  /** By commit or credit; null if they were not asked for. */
  readonly balances: ReadonlyMap<string, Balance> | null;
  /** By commit; absent if unknown. */
  readonly costBases: ReadonlyMap<string, Decimal>;
}

/** By creation, or by priority first. Refuses an unknown customer (`CustomerNotFound`). */
export async function listBalances(
  context: BillingContext,
  input: ListBalancesInput,
  request: PageRequest<CommitPosition>,
): Promise<BalancePage> {
  const { db, clock } = context;
  const { customerId, withBalances, excludeZeroBalances } = input;
  if (!(await customerExists(db, customerId))) {
    throw notFound('customer', customerId, 'CustomerNotFound');
  }
  if (request.after !== null && (request.after.priority !== undefined) !== input.sortsByPriority) {
    throw invalid(['cursor'], 'does not belong to this request');
  }
  const now = clock.now();
  const balances = withBalances || excludeZeroBalances ? new Map<string, Balance>() : null;
  const isShown = ({ id }: Commit) => !excludeZeroBalances || balances?.get(id)?.balance.gt(ZERO) === true;
  const page = await pageWithRows(
    request,
    async (part) => {
      const { rows, next } = await listCommits(db, input, part);
      const owned = await withOwners(db, balances === null ? rows.filter(isRollover) : rows);
      const shown = await shownBalances(context, owned, now, { withBalances: balances !== null });
      for (const [id, own] of shown.balances) balances?.set(id, own);
      return { rows: withRollovers(rows, shown.rollovers).filter(isShown), next };
    },
    (commit) => commitPosition(commit, input),
  );
  const { rows } = page;
  const owned = await withOwners(db, rows);
  const recurring = await loadRecurringCommits(
    db,
    owned.flatMap(({ commit, contract }) => (commit.recurringCommitId === null ? [] : (contract?.id ?? []))),
  );
  return {
    page,
    names: await loadNames(db, [{ terms: { ...addedTerms(NO_CHANGES), commits: rows } }], now),
    recurringCommits: new Map(recurring.map((one) => [one.id, one])),
    balances,
    costBases: await costBasesOfRows(db, rows),
  };
}

/** A custom unit is converted at the rate of the contract that invoices the commit. */
async function costBasesOfRows(db: Database, rows: readonly Commit[]): Promise<Map<string, Decimal>> {
  const billedOn = ({ contractId, invoiceContractId }: Commit) => contractId ?? invoiceContractId ?? '';
  const ids = [...new Set(rows.map(billedOn).filter((id) => id !== ''))];
  const contracts = await loadContracts(db, { ids, includeArchived: true });
  const cardOf = new Map(contracts.map(({ id, rateCardId }) => [id, rateCardId]));
  const priced = rows.map((commit) => ({ commit, rateCardId: cardOf.get(billedOn(commit)) ?? null }));
  const cards = await loadRateCards(db, [...new Set(priced.flatMap(({ rateCardId }) => rateCardId ?? []))]);
  return costBasesOf(db, priced, cards);
}
