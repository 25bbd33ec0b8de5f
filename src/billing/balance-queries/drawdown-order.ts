/** The balances of a customer in burn-down order, with the deciding criterion of each. */
import type { Decimal } from '../../core/decimal.ts';
import { ZERO } from '../../core/decimal.ts';
import { notFound } from '../../core/errors.ts';
import type { BurnDownCriterion } from '../../core/invoice-balances.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { AccessSegment } from '../../core/terms/schedules.ts';
import { contains, type Instant } from '../../core/time.ts';
import {
  compareBalances,
  decidingCriterion,
  type RankedBalance,
  rankedBalance,
} from '../../rating/balances/burn-down-order.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import { customerExists } from '../../store/customers/customers.ts';
import { loadCanceledPurchases } from '../balances/canceled-purchases.ts';
import { loadProductTags } from '../balances/ranking-context.ts';
import { loadWithheld } from '../balances/withheld.ts';
import type { BillingContext } from '../billing-context.ts';
import { findContractOf } from '../contracts/find-contract.ts';
import { type OwnedCommit, shownBalances, withOwners, withRollovers } from './balances.ts';

export interface DrawdownOrderInput {
  readonly customerId: string;
  /** Only balances that usage of this contract may draw down; null: any contract. */
  readonly contractId: string | null;
}

export interface OrderedBalance {
  readonly commit: Commit;
  readonly segment: AccessSegment;
  readonly ranked: RankedBalance;
  /** The remaining amount. */
  readonly balance: Decimal;
  /** The criterion that puts it after the one before it; null for the first. */
  readonly decidedBy: BurnDownCriterion | null;
}

/**
 * The segments that are open now, including empty ones. Refuses an unknown customer, and a contract of another customer
 * (`not_found`).
 */
export async function drawdownOrder(
  context: BillingContext,
  { customerId, contractId }: DrawdownOrderInput,
): Promise<OrderedBalance[]> {
  const { db, clock } = context;
  if (!(await customerExists(db, customerId))) {
    throw notFound('customer', customerId, 'CustomerNotFound');
  }
  if (contractId !== null) await findContractOf(db, customerId, contractId);
  const now = clock.now();
  const commits = await loadCommits(db, { customerIds: [customerId], includeArchived: false });
  const isWithheld = await loadWithheld(db, commits);
  const canceled = await loadCanceledPurchases(db, commits);
  const usable = commits.filter(
    (commit) => !isWithheld(commit) && !canceled.has(commit.id) && appliesTo(commit, contractId),
  );
  const owned = await withOwners(db, usable);
  const { balances, rollovers } = await shownBalances(context, owned, now, { withBalances: true });
  const shown = new Set(withRollovers(usable, rollovers).map(({ id }) => id));
  const productTags = await loadProductTags(db, usable, now);
  const present = owned.filter(({ commit }) => shown.has(commit.id));
  const open = present.flatMap(({ commit, contract }) =>
    openSegments({ commit, contract }, now).map((segment) => ({
      commit,
      segment,
      balance: balances.get(commit.id)?.bySegment.get(segment.id) ?? ZERO,
      ranked: rankedBalance(commit, segment, { contractEnd: contract?.endingBefore ?? null, productTags }),
    })),
  );
  const sorted = open.toSorted((a, b) => compareBalances(a.ranked, b.ranked));
  return sorted.map((one, index) => {
    const before = sorted[index - 1];
    return { ...one, decidedBy: before === undefined ? null : decidingCriterion(before.ranked, one.ranked) };
  });
}

/** Balances that a parent shares with its children are not listed for the children. */
function appliesTo(commit: Commit, contractId: string | null): boolean {
  if (contractId === null) return true;
  if (commit.contractId !== null) return commit.contractId === contractId;
  const { applicableContractIds: ids } = commit;
  return ids.length === 0 || ids.includes(contractId);
}

function openSegments({ commit, contract }: OwnedCommit, at: Instant): AccessSegment[] {
  const contractEnd = contract?.endingBefore ?? Number.POSITIVE_INFINITY;
  return commit.accessSchedule.segments.filter(({ startingAt: start, endingBefore }) =>
    contains({ start, end: Math.min(endingBefore, contractEnd) }, at),
  );
}
