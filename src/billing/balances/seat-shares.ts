/** Loads the shares of seats in commits and credits that are allocated to individual seats. */
import type { Commit } from '../../core/terms/commits.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { FormerUnitPrice, RecurringCommit } from '../../core/terms/recurring-commits.ts';
import type { Subscription } from '../../core/terms/subscriptions.ts';
import { seatGrantsOf } from '../../rating/balances/recurring-grants.ts';
import { type SeatShare, seatShareId, seatShares } from '../../rating/balances/seat-shares.ts';
import { loadRecurringCommits } from '../../store/balances/recurring-commits.ts';
import { formerUnitPrices } from '../../store/balances/recurring-unit-prices.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { loadContracts } from '../../store/contracts/contracts.ts';
import { loadSubscriptions } from '../../store/contracts/subscriptions.ts';

/** A commit or credit with its division among seats. */
export interface DividedCommit {
  readonly groupKey: string;
  readonly subscriptionId: string;
  readonly shares: readonly SeatShare[];
  /** Entries and deductions of shares with their seat, and the segment of the schedule in place of the share. */
  bySegment<Entry extends { readonly segmentId: string }>(entries: readonly Entry[]): OfSeat<Entry>[];
}

/** `seatId` null: no seat. */
type OfSeat<Entry> = Entry & { readonly seatId: string | null };

/** Null for commits that are not divided. */
export type DividedCommits = (commit: Commit) => DividedCommit | null;

/** A fixed number of queries; none if no commit belongs to a recurring term. */
export async function loadDividedCommits(
  db: Database | Transaction,
  commits: readonly Commit[],
): Promise<DividedCommits> {
  const children = commits.filter(({ recurringCommitId }) => recurringCommitId !== null);
  const ids = [...new Set(children.flatMap(({ contractId }) => contractId ?? []))];
  if (ids.length === 0) return () => null;
  const recurring = (await loadRecurringCommits(db, ids)).filter(isIndividual);
  if (recurring.length === 0) return () => null;
  const contractIds = [...new Set(recurring.map(({ contractId }) => contractId))];
  const contracts = await loadContracts(db, { ids: contractIds, includeArchived: true });
  const former = await formerUnitPrices(
    db,
    recurring.map(({ id }) => id),
  );
  return dividedCommits(recurring, contracts, await loadSubscriptions(db, contractIds), former);
}

function isIndividual({ subscription }: RecurringCommit): boolean {
  return subscription?.allocation === 'INDIVIDUAL';
}

/** By term. */
export type FormerUnitPrices = ReadonlyMap<string, readonly FormerUnitPrice[]>;

/** `loadDividedCommits` for terms that are loaded. */
export function dividedCommits(
  recurring: readonly RecurringCommit[],
  contracts: readonly Contract[],
  subscriptions: readonly Subscription[],
  former: FormerUnitPrices,
): DividedCommits {
  const terms = new Map(recurring.map((term) => [term.id, term]));
  const contractsById = new Map(contracts.map((contract) => [contract.id, contract]));
  const subscriptionsById = new Map(subscriptions.map((one) => [one.id, one]));
  return (commit) => {
    const term = terms.get(commit.recurringCommitId ?? '');
    const contract = contractsById.get(term?.contractId ?? '');
    const subscription = subscriptionsById.get(term?.subscription?.subscriptionId ?? '');
    const groupKey = subscription?.seatGroupKey ?? null;
    if (term === undefined || contract === undefined || subscription === undefined || groupKey === null)
      return null;
    const granted = seatGrantsOf(commit, term, contract, subscription, former.get(term.id));
    const shares = seatShares(commit, subscription, granted);
    return {
      groupKey,
      subscriptionId: subscription.id,
      shares,
      bySegment: (entries) => bySegment(entries, commit, subscription, shares),
    };
  };
}

/** Entries of a seat that lost its share by a later correction belong to the first segment. */
function bySegment<Entry extends { readonly segmentId: string }>(
  entries: readonly Entry[],
  { id, accessSchedule: { segments } }: Commit,
  { seatChanges }: Subscription,
  shares: readonly SeatShare[],
): OfSeat<Entry>[] {
  if (entries.length === 0) return [];
  const segmentOf = new Map(shares.map((share) => [share.seatId, share.segment.id]));
  const seatIds = new Set(seatChanges.flatMap(({ seatId }) => seatId ?? []));
  const seats = new Map([...seatIds].map((seatId) => [seatShareId(id, seatId), seatId]));
  return entries.map((entry) => {
    const seatId = seats.get(entry.segmentId) ?? null;
    if (seatId === null) return { ...entry, seatId };
    return { ...entry, seatId, segmentId: segmentOf.get(seatId) ?? segments[0]?.id ?? entry.segmentId };
  });
}
