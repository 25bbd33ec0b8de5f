/** Reads the data that determine the children of recurring terms, for many contracts in four queries. */
import { groupBy } from '../../../core/group-by.ts';
import type { Instant } from '../../../core/time.ts';
import { loadRecurringCommits } from '../../../store/balances/recurring-commits.ts';
import { loadLastGrants } from '../../../store/balances/recurring-grants.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { loadContracts } from '../../../store/contracts/contracts.ts';
import { loadSubscriptions } from '../../../store/contracts/subscriptions.ts';
import type { Granting } from './granted-terms.ts';

export interface Grantings {
  readonly grantings: readonly Granting[];
  /** By recurring term, the start of the last period with a child. */
  readonly last: Map<string, Instant>;
}

/** The active contracts among those with the given ids. */
export async function loadGrantings(tx: Transaction, contractIds: readonly string[]): Promise<Grantings> {
  const contracts = await loadContracts(tx, { ids: contractIds });
  const recurring = await loadRecurringCommits(
    tx,
    contracts.map(({ id }) => id),
  );
  const last = await loadLastGrants(
    tx,
    recurring.map(({ id }) => id),
  );
  const linked = recurring.filter(({ subscription }) => subscription !== null);
  const subscriptions = groupBy(
    await loadSubscriptions(tx, [...new Set(linked.map(({ contractId }) => contractId))]),
    ({ contractId }) => contractId,
  );
  const byContract = groupBy(recurring, ({ contractId }) => contractId);
  const grantings = contracts.map((contract) => ({
    contract,
    recurring: byContract.get(contract.id) ?? [],
    subscriptions: subscriptions.get(contract.id) ?? [],
  }));
  return { grantings, last };
}
