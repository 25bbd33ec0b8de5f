/**
 * Children that recurring terms have not created yet, for messages that are sent before they exist
 * (docs/explanation/notifications.md).
 */
import type { Commit } from '../../../core/terms/commits.ts';
import type { EventSpan, Upcoming, UpcomingCommits } from '../../../notifications/upcoming.ts';
import { recurringGrants } from '../../../rating/balances/recurring-grants.ts';
import { accessMsMax } from '../../../rating/periods/grant-periods.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { listJobKeys } from '../../../store/jobs/jobs.ts';
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
  return { contractId, customerId, ...due, commitsIn: (span) => missingIn(granting, last, span) };
}

/** Children whose access begins or ends in the span, and possibly others. */
function missingIn(
  { contract, recurring, subscriptions }: Granting,
  last: LastGrants,
  { from, until }: EventSpan,
): Commit[] {
  if (contract.archivedAt !== null) return [];
  return recurring.flatMap((term) => {
    const known = last.get(term.id) ?? null;
    // One more period, because children begin with the first period after it.
    const after = known === null ? null : Math.max(known, from - 2 * accessMsMax(term, contract));
    return recurringGrants(term, contract, subscriptions, { at: until, after });
  });
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

  async ofContracts(tx, contractIds, span) {
    const { grantings, last } = await loadGrantings(tx, contractIds);
    return grantings.flatMap((granting) => missingIn(granting, last, span));
  },
};

/** The contracts with children to create. */
async function* grantingPages(tx: Transaction): AsyncIterable<readonly string[]> {
  let after: string | null = null;
  do {
    const contractIds: string[] = await listJobKeys(tx, GRANT_JOB, { after, limit: PAGE_CONTRACTS });
    if (contractIds.length > 0) yield contractIds;
    after = contractIds.length === PAGE_CONTRACTS ? (contractIds.at(-1) ?? null) : null;
  } while (after !== null);
}
