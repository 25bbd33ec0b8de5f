/** Children that recurring terms are yet to create, for what is told before they exist (docs/notifications.md). */
import type { Commit } from '../../../core/terms/commits.ts';
import type { Instant } from '../../../core/time.ts';
import type { Upcoming, UpcomingCommits } from '../../../notifications/upcoming.ts';
import { recurringGrants } from '../../../rating/balances/recurring-grants.ts';
import type { Transaction } from '../../../store/database.ts';
import { listJobKeys } from '../../../store/jobs.ts';
import { GRANT_JOB, type Granting, type LastGrants, nextGrantAt } from './granted-terms.ts';
import { loadGrantings } from './load-grantings.ts';

/** Contracts in memory at once. */
const PAGE_CONTRACTS = 500;

export function upcomingOf(
  granting: Granting,
  last: LastGrants,
  due: Pick<Upcoming, 'dueAfter' | 'dueUntil'>,
): Upcoming {
  const { id: contractId, customerId } = granting.contract;
  return { contractId, customerId, ...due, commitsUntil: (at) => missingUntil(granting, last, at) };
}

/** There are at most as many as there are days in the longest offset, twenty years. */
function missingUntil(
  { contract, recurring, subscriptions }: Granting,
  last: LastGrants,
  at: Instant,
): Commit[] {
  if (contract.archivedAt !== null) return [];
  return recurring.flatMap((term) =>
    recurringGrants(term, contract, subscriptions, { at, after: last.get(term.id) ?? null }),
  );
}

export const upcomingCommits: UpcomingCommits = {
  async *all(tx, now) {
    for await (const contractIds of grantingPages(tx)) {
      const { grantings, last } = await loadGrantings(tx, contractIds);
      yield grantings.map((granting) =>
        upcomingOf(granting, last, { dueAfter: now, dueUntil: nextGrantAt(granting, last, now) }),
      );
    }
  },

  async ofContracts(tx, contractIds, until) {
    const { grantings, last } = await loadGrantings(tx, contractIds);
    return grantings.flatMap((granting) => missingUntil(granting, last, until));
  },
};

/** The contracts that have children to create. */
async function* grantingPages(tx: Transaction): AsyncIterable<readonly string[]> {
  let after: string | null = null;
  do {
    const contractIds: string[] = await listJobKeys(tx, GRANT_JOB, { after, limit: PAGE_CONTRACTS });
    if (contractIds.length > 0) yield contractIds;
    after = contractIds.length === PAGE_CONTRACTS ? (contractIds.at(-1) ?? null) : null;
  } while (after !== null);
}
