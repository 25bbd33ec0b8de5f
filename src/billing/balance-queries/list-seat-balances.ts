/**
 * Lists the balances of a contract's seats in its commits and credits (docs/explanation/subscriptions.md, "Balances of
 * seats").
 */
import { invalid, notFound } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import { derivedId } from '../../core/ids.ts';
import { cutPage, type Page, type PageRequest } from '../../core/paging.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { AccessSegment } from '../../core/terms/schedules.ts';
import type { Subscription } from '../../core/terms/subscriptions.ts';
import { contains, type Instant } from '../../core/time.ts';
import { type ShareBalance, shareBalances } from '../../rating/balances/seat-balances.ts';
import type { SeatShare } from '../../rating/balances/seat-shares.ts';
import { compareText } from '../../rating/quantities/group-values.ts';
import { seatAssignments } from '../../rating/quantities/seat-assignments.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import type { Database } from '../../store/base/database.ts';
import { loadSubscriptions } from '../../store/contracts/subscriptions.ts';
import { loadDividedCommits } from '../balances/seat-shares.ts';
import type { BillingContext } from '../billing-context.ts';
import { findContractOf } from '../contracts/find-contract.ts';
import { ledgerFactsOf } from './balances.ts';

/** Null: omitted. */
export interface SeatBalancesInput {
  readonly customerId: string;
  readonly contractId: string;
  /** Only seats of these subscriptions, and their balances. */
  readonly subscriptionIds: readonly string[] | null;
  readonly seatIds: readonly string[] | null;
  /** Whether `seatIds` may name seats that do not exist. */
  readonly skipsMissingSeats: boolean;
  /** Only commits and credits with access at this instant. Mutually exclusive with the others; if all are null, now. */
  readonly coveringDate: Instant | null;
  /** Only those with access at or after this instant. */
  readonly startingAt: Instant | null;
  /** Only those with access at or before this instant. */
  readonly effectiveBefore: Instant | null;
  /** Whether the page is limited to `RECORDS_MAX` commits and credits, because the answer shows them. */
  readonly showsRecords: boolean;
}

/** A seat with its balance in each commit and credit, in their order of creation. */
export interface SeatBalances {
  readonly seatId: string;
  readonly shares: readonly ShareBalance[];
}

/** The last seat of a page. Ids of seats may be too long for a cursor. */
export interface SeatPosition {
  readonly seat: string;
}

export interface SeatBalancesPage {
  readonly page: Page<SeatBalances, SeatPosition>;
  /** The number of seats after the page. */
  readonly seatsAfter: number;
}

/** A page ends once its seats have this many commits and credits. */
const RECORDS_MAX = 100;

/**
 * By seat id: seats that have been assigned so far, even if they were removed since. Refuses an unknown customer,
 * contract or subscription (`not_found`), and (`invalid`) a subscription without seats, unknown seats, and a date
 * together with a range.
 */
export async function listSeatBalances(
  context: BillingContext,
  input: SeatBalancesInput,
  { after, limit }: PageRequest<SeatPosition>,
): Promise<SeatBalancesPage> {
  const { db, clock } = context;
  if (input.coveringDate !== null && (input.startingAt !== null || input.effectiveBefore !== null)) {
    throw invalid(['coveringDate'], 'cannot be combined with a range');
  }
  const contract = await findContractOf(db, input.customerId, input.contractId);
  const subscriptions = await subscriptionsOf(db, input);
  const now = clock.now();
  const seatIds = seatsBehind(seatsOf(subscriptions, input, now), after);
  const held = await loadHeldShares(db, subscriptions, withDate(input, now));
  const most = input.showsRecords ? seatsWithRecords(seatIds, held) : limit;
  const { rows, next } = cutPage(seatIds, Math.min(limit, most), positionOf);
  const shares = new Map(rows.map((seatId) => [seatId, held.get(seatId) ?? []]));
  const commits = new Set([...shares.values()].flat().map(({ commit }) => commit));
  const owned = [...commits].map((commit) => ({ commit, contract }));
  const factsOf = await ledgerFactsOf(context, owned, now);
  const balanceOf = new Map(owned.map((one) => [one.commit, shareBalances(one.commit, factsOf(one))]));
  const balances = [...shares].map(([seatId, own]) => ({
    seatId,
    shares: own.flatMap(({ commit, share }) => balanceOf.get(commit)?.(share) ?? []),
  }));
  return { page: { rows: balances, next }, seatsAfter: seatIds.length - rows.length };
}

/** Defaults to the open segments: the number of past and future ones is unlimited. */
function withDate(input: SeatBalancesInput, now: Instant): SeatBalancesInput {
  const isOpen = input.coveringDate === null && input.startingAt === null && input.effectiveBefore === null;
  return isOpen ? { ...input, coveringDate: now } : input;
}

/** All commits and credits of the contract with seats, or the requested ones. */
async function subscriptionsOf(
  db: Database,
  { contractId, subscriptionIds }: SeatBalancesInput,
): Promise<Subscription[]> {
  const all = await loadSubscriptions(db, [contractId]);
  const byId = new Map(all.map((one) => [one.id, one]));
  for (const [index, id] of (subscriptionIds ?? []).entries()) {
    const found = byId.get(id);
    if (found === undefined) throw notFound('subscription', id, 'SubscriptionNotFound');
    if (found.quantityManagementMode !== 'SEAT_BASED') {
      throw invalid(['subscriptionIds', index], 'is a QUANTITY_ONLY subscription, which has no seats');
    }
  }
  const wanted = new Set(subscriptionIds ?? byId.keys());
  return all.filter(({ id, quantityManagementMode: mode }) => wanted.has(id) && mode === 'SEAT_BASED');
}

/** Their ids, ascending. */
function seatsOf(
  subscriptions: readonly Subscription[],
  { seatIds, skipsMissingSeats }: SeatBalancesInput,
  now: Instant,
): string[] {
  const assigned = new Set(
    subscriptions
      .flatMap((one) => seatAssignments(one))
      .filter(({ interval }) => interval.start <= now)
      .map(({ seatId }) => seatId),
  );
  const missing = (seatIds ?? []).findIndex((id) => !assigned.has(id));
  if (missing !== -1 && !skipsMissingSeats) {
    throw invalid(['seatIds', missing], `there is no seat ${JSON.stringify(seatIds?.[missing])}`);
  }
  const chosen = seatIds === null ? [...assigned] : [...new Set(seatIds)].filter((id) => assigned.has(id));
  return chosen.sort(compareText);
}

function positionOf(seatId: string): SeatPosition {
  return { seat: derivedId('seat', seatId) };
}

/** If a later correction has removed a seat from the list, there is no place to continue from. */
function seatsBehind(seatIds: readonly string[], after: SeatPosition | null): readonly string[] {
  if (after === null) return seatIds;
  const last = seatIds.findIndex((seatId) => positionOf(seatId).seat === after.seat);
  if (last === -1) throw invalid(['cursor'], 'must be the next_page of an earlier answer of this list');
  return seatIds.slice(last + 1);
}

interface HeldShare {
  readonly commit: Commit;
  readonly share: SeatShare;
}

/** By seat, in the order of creation of the commits and credits. */
async function loadHeldShares(
  db: Database,
  subscriptions: readonly Subscription[],
  input: SeatBalancesInput,
): Promise<Map<string, HeldShare[]>> {
  const all = await loadCommits(db, { contractIds: [input.contractId], includeArchived: false });
  const commits = all.filter(({ accessSchedule }) =>
    accessSchedule.segments.some((segment) => isWanted(segment, input)),
  );
  const divided = await loadDividedCommits(db, commits);
  const chosen = new Set(subscriptions.map(({ id }) => id));
  const held = commits.flatMap((commit) => {
    const { subscriptionId = '', shares = [] } = divided(commit) ?? {};
    return chosen.has(subscriptionId) ? shares.map((share) => ({ commit, share })) : [];
  });
  return groupBy(
    held.filter(({ share }) => isWanted(share.segment, input)),
    ({ share }) => share.seatId,
  );
}

function isWanted(
  { startingAt: start, endingBefore: end }: AccessSegment,
  { coveringDate, startingAt, effectiveBefore }: SeatBalancesInput,
): boolean {
  return (
    (coveringDate === null || contains({ start, end }, coveringDate)) &&
    (startingAt === null || end > startingAt) &&
    (effectiveBefore === null || start <= effectiveBefore)
  );
}

/** How many seats, at least one, have `RECORDS_MAX` commits and credits together. */
function seatsWithRecords(
  seatIds: readonly string[],
  held: ReadonlyMap<string, readonly HeldShare[]>,
): number {
  let records = 0;
  const last = seatIds.findIndex((seatId) => {
    records += held.get(seatId)?.length ?? 0;
    return records >= RECORDS_MAX;
  });
  return last === -1 ? Math.max(1, seatIds.length) : last + 1;
}
