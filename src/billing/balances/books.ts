/** Loads the balances that invoices may draw on, as issued invoices left them. */
import { connectedGroups } from '../../core/connected-groups.ts';
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { ManualEntry } from '../../core/terms/ledger.ts';
import type { AccessSegment } from '../../core/terms/schedules.ts';
import type { Instant, Interval } from '../../core/time.ts';
import {
  type BalanceBook,
  type BookedBucket,
  createBalanceBook,
  NO_BALANCES,
} from '../../rating/balances/balance-book.ts';
import { accessOf, type BucketSeat } from '../../rating/balances/buckets.ts';
import { compareBalances, type RankedBalance, rankedBalance } from '../../rating/balances/burn-down-order.ts';
import { rolledSegmentId } from '../../rating/balances/rollover.ts';
import { versionAt } from '../../rating/quantities/product-spans.ts';
import { loadCommits, loadUsableCommits } from '../../store/balances/commits.ts';
import { loadManualEntries } from '../../store/balances/manual-balance-entries.ts';
import { type Families, loadFamilies } from '../../store/balances/sharing-customers.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { type Contract, loadContracts } from '../../store/contracts/contracts.ts';
import { loadDeductedAmounts } from '../../store/invoices/balance-deductions.ts';
import { loadProducts } from '../../store/products/products.ts';
import { loadCanceledPurchases } from './canceled-purchases.ts';
import { isShared, mayDrawOn } from './drawing-contracts.ts';
import { loadProductTags } from './ranking-context.ts';
import { type DividedCommit, loadDividedCommits } from './seat-shares.ts';
import { loadWithheld } from './withheld.ts';

/** The balances of a customer, or of all customers that share some. */
export interface Balances {
  /** In burn-down order. */
  readonly buckets: readonly BookedBucket[];
  /**
   * Which invoices share them: those of one contract, all contracts of the customer, or each of these groups of
   * contracts.
   */
  readonly sharedBy: 'none' | 'all' | readonly (readonly string[])[];
}

/**
 * By customer; customers without usable commits and credits are absent. Customers that share balances have one object.
 */
export type CustomerBalances = ReadonlyMap<string, Balances>;

/** Whether invoices of both contracts draw on a common balance, or one draws on the amount left by the other. */
export function shareBalances({ sharedBy }: Balances, a: string, b: string): boolean {
  if (a === b || sharedBy === 'all') return true;
  return sharedBy !== 'none' && sharedBy.some((group) => group.includes(a) && group.includes(b));
}

/** The book of each customer, created on first use. Customers that share balances have one book. */
export function createBooks(balances: CustomerBalances): (customerId: string) => BalanceBook {
  const books = new Map<Balances, BalanceBook>();
  return (customerId) => {
    const own = balances.get(customerId);
    if (own === undefined) return NO_BALANCES;
    const book = books.get(own) ?? createBalanceBook(own.buckets);
    books.set(own, book);
    return book;
  };
}

/** A commit that is not stored, to find the amount that invoices would draw from it. */
export interface CandidateCommit {
  readonly commit: Commit;
  /**
   * Whether it pays only for charges that no other balance can pay for; else it has its place in the burn-down order.
   */
  readonly isLast: boolean;
}

/** Overrides of the stored balances. */
export interface BalancesInstead {
  /** Issued invoices whose deductions are ignored. */
  readonly invoices?: readonly string[];
  /** Candidates of the customers whose balances are loaded. */
  readonly candidates?: readonly CandidateCommit[];
  /** The families of these customers, if known. */
  readonly families?: Families;
}

/** When charges of a customer may draw on balances. */
export interface DrawingTime {
  readonly customerId: string;
  readonly period: Interval;
}

/** The balances that invoices of these periods may draw on. A fixed number of queries. */
export async function loadCustomerBalances(
  db: Database | Transaction,
  wanted: readonly DrawingTime[],
  now: Instant,
  { invoices: invoicesInstead = [], candidates = [], families: known }: BalancesInstead = {},
): Promise<CustomerBalances> {
  if (wanted.length === 0) return new Map();
  const customerIds = [...new Set(wanted.map(({ customerId }) => customerId))];
  const time = {
    start: Math.min(...wanted.map(({ period }) => period.start)),
    end: Math.max(...wanted.map(({ period }) => period.end)),
  };
  const [families, own] = await Promise.all([
    known ?? loadFamilies(db, customerIds),
    loadUsableCommits(db, customerIds, time),
  ]);
  const asked = new Set(customerIds);
  const others = [...families.keys()].filter((id) => !asked.has(id));
  const ofOthers = await loadUsableCommits(db, others, time);
  const usable = [...own, ...ofOthers, ...candidates.map(({ commit }) => commit)];
  if (usable.length === 0) return new Map();
  const commits = await withSources(db, await withHeirs(db, usable));
  const drawersOf = await loadDrawers(db, commits, families);
  const bucketsOf = await loadBuckets(db, commits, now, { invoicesInstead, drawersOf });
  const last = new Set(candidates.flatMap(({ commit, isLast }) => (isLast ? [commit.id] : [])));
  const byFamily = groupBy(commits, ({ customerId }) => families.get(customerId) ?? customerId);
  const loaded = [...byFamily].flatMap(([family, own]) => {
    const buckets = inBurnDownOrder(own.flatMap(bucketsOf), last);
    const balances: Balances = { buckets, sharedBy: sharingOf(own, drawersOf) };
    const customers = typeof family === 'string' ? [family] : family;
    return customers.map((customerId) => [customerId, balances] as const);
  });
  return new Map(loaded);
}

/**
 * The contracts whose charges a commit or credit pays for; null: all contracts of its customer, which shares with no
 * other.
 */
type DrawersOf = (commit: Commit) => readonly string[] | null;

/** No query if no balance is shared with children. */
async function loadDrawers(
  db: Database | Transaction,
  commits: readonly Commit[],
  families: Families,
): Promise<DrawersOf> {
  const sharing = commits.filter(isShared).map(({ customerId }) => customerId);
  const joined = [...families].flatMap(([customerId, family]) => (family.length > 1 ? [customerId] : []));
  const customerIds = new Set([...sharing, ...joined]);
  const contracts = await loadContracts(db, { customerIds: [...customerIds] });
  const inFamily = groupBy(contracts, ({ customerId }) => families.get(customerId));
  return (commit) => {
    if (!customerIds.has(commit.customerId)) return ownContractIds(commit);
    const own = inFamily.get(families.get(commit.customerId)) ?? [];
    return own.flatMap((contract) => (mayDrawOn(contract, commit) ? [contract.id] : []));
  };
}

/** Which contracts share the balances of one family. */
function sharingOf(commits: readonly Commit[], drawersOf: DrawersOf): Balances['sharedBy'] {
  const drawers = commits.map((commit) => ({ commit, ids: drawersOf(commit) }));
  if (drawers.some(({ ids }) => ids === null)) return 'all';
  const connected = drawers.map(({ commit: { contractId, rolledOverFrom }, ids }) => [
    ...(ids ?? []),
    ...(rolledOverFrom === null || contractId === null ? [] : [contractId, rolledOverFrom.contractId]),
  ]);
  const groups = new Set(connectedGroups([], connected).values());
  const shared = [...groups].filter(({ length }) => length > 1);
  return shared.length === 0 ? 'none' : shared;
}

/** The commits with the sources of rollovers, along the whole chain of renewals. */
async function withSources(db: Database | Transaction, commits: readonly Commit[]): Promise<Commit[]> {
  const all = new Map(commits.map((commit) => [commit.id, commit]));
  let heirs = commits;
  for (;;) {
    const ids = [...new Set(heirs.flatMap(({ rolledOverFrom }) => rolledOverFrom?.commitId ?? []))];
    const unknown = ids.filter((id) => !all.has(id));
    if (unknown.length === 0) return [...all.values()];
    heirs = await loadCommits(db, { ids: unknown, includeArchived: true });
    for (const source of heirs) all.set(source.id, source);
  }
}

/** The commits with their rollovers: used amounts of these are not available to late charges. */
async function withHeirs(db: Database | Transaction, commits: readonly Commit[]): Promise<Commit[]> {
  const all = new Map(commits.map((commit) => [commit.id, commit]));
  let sources = commits;
  for (;;) {
    const rolling = sources.filter(({ rolloverFraction }) => rolloverFraction !== null);
    const heirs = await loadCommits(db, {
      customerIds: [...new Set(rolling.map(({ customerId }) => customerId))],
      rolledOverFrom: rolling.map(({ id }) => id),
      includeArchived: true,
    });
    sources = heirs.filter(({ id }) => !all.has(id));
    if (sources.length === 0) return [...all.values()];
    for (const heir of sources) all.set(heir.id, heir);
  }
}

interface RankedBucket extends BookedBucket {
  readonly rank: RankedBalance;
}

/** `last`: commits whose buckets are drawn down after all others. */
function inBurnDownOrder(buckets: readonly RankedBucket[], last: ReadonlySet<string>): RankedBucket[] {
  const isLast = ({ id }: RankedBucket) => Number(last.has(id));
  return buckets.toSorted((a, b) => isLast(a) - isLast(b) || compareBalances(a.rank, b.rank));
}

/** The segments of commits that can be used at some time, with the amounts left of them. */
async function loadBuckets(
  db: Database | Transaction,
  commits: readonly Commit[],
  now: Instant,
  {
    invoicesInstead,
    drawersOf,
  }: { readonly invoicesInstead: readonly string[]; readonly drawersOf: DrawersOf },
): Promise<(commit: Commit) => RankedBucket[]> {
  const ids = commits.map(({ id }) => id);
  const isWithheld = await loadWithheld(db, commits);
  const canceled = await loadCanceledPurchases(db, commits);
  const manual = await loadManualEntries(db, ids);
  const deducted = await loadDeductedAmounts(db, ids, invoicesInstead);
  const owners = await contractsOf(db, commits);
  const products = await loadProducts(db, [...new Set(commits.map(({ productId }) => productId))]);
  const productTags = await loadProductTags(db, commits, now);
  const divided = await loadDividedCommits(db, commits);
  const byId = new Map(commits.map((commit) => [commit.id, commit]));
  const sourceIds = new Set(commits.flatMap(({ rolledOverFrom }) => rolledOverFrom?.commitId ?? []));
  /** Whether nothing has rolled over into it: an archived or canceled source has nothing to roll over. */
  const isEmpty = (heir: Commit): boolean => {
    const source = byId.get(heir.rolledOverFrom?.commitId ?? '');
    if (source === undefined) return false;
    const ends = [source.archivedAt, canceled.get(source.id)?.at ?? null].filter((end) => end !== null);
    return isWithheld(source) || Math.min(...ends) < heir.createdAt || isEmpty(source);
  };
  return (commit) => {
    if (isWithheld(commit) || isEmpty(commit)) return [];
    const parts = partsOf(commit, divided(commit));
    const byHand = groupBy(manual.get(commit.id) ?? [], ({ segmentId }) => segmentId);
    const contract = owners.get(commit.contractId ?? '') ?? null;
    const contractEnd = contract?.endingBefore ?? null;
    const product = products.get(commit.productId);
    const limits = [contractEnd, commit.archivedAt, canceled.get(commit.id)?.at ?? null];
    const name = commit.name ?? (product === undefined ? commit.id : versionAt(product, now).name);
    const contractIds = drawersOf(commit);
    // One rank for the shares of all seats in a segment.
    const ranks = new Map(
      commit.accessSchedule.segments.map((segment) => [
        segment,
        rankedBalance(commit, segment, { contractEnd, productTags }),
      ]),
    );
    const { id: commitId, recurringCommitId: recurringId, rateType, applicability } = commit;
    return parts.flatMap(({ segment, id, amount, open, seat }): RankedBucket[] => {
      // A segment that never opens may roll over.
      const access = accessOf(open, limits) ?? (sourceIds.has(commitId) ? closedAt(open.startingAt) : null);
      const rank = ranks.get(segment);
      if (access === null || rank === undefined) return [];
      const source = sourceOf(commit, byId, segment.id, amount);
      const left = leftOf(amount, byHand.get(id), deducted.get(id));
      const { creditTypeId } = commit.accessSchedule;
      return [
        {
          ...{ id: commitId, recurringId, rateType, segmentId: id, seat, commitType: commit.type, name },
          ...{ creditTypeId, applicability, access, contractIds, left, source, rank },
        },
      ];
    });
  };
}

/** The rest of an amount after manual entries and issued invoices. */
function leftOf(
  amount: Decimal,
  byHand: readonly ManualEntry[] | undefined,
  deducted: Decimal | undefined,
): Decimal {
  const given = byHand === undefined ? amount : amount.plus(sum(byHand.map((entry) => entry.amount)));
  return deducted === undefined ? given : given.minus(deducted);
}

/** The parts of a commit that are drawn down: its segments, or the shares of seats in them. */
interface Part {
  readonly segment: AccessSegment;
  readonly id: string;
  readonly amount: Decimal;
  readonly open: Pick<AccessSegment, 'startingAt' | 'endingBefore'>;
  readonly seat: BucketSeat | null;
}

/** Without unassigned shares. */
function partsOf({ accessSchedule: { segments } }: Commit, divided: DividedCommit | null): Part[] {
  if (divided === null) {
    return segments.map((segment) => ({
      ...{ segment, id: segment.id, amount: segment.amount },
      ...{ open: segment, seat: null },
    }));
  }
  const { groupKey, shares } = divided;
  const parts: Part[] = [];
  for (const { id, seatId, segment, amount, access } of shares) {
    const seat = { groupKey, id: seatId, segmentId: segment.id };
    for (const { start: startingAt, end: endingBefore } of access) {
      parts.push({ segment, id, amount, open: { startingAt, endingBefore }, seat });
    }
  }
  return parts;
}

async function contractsOf(
  db: Database | Transaction,
  commits: readonly Commit[],
): Promise<Map<string, Contract>> {
  const ids = [...new Set(commits.flatMap(({ contractId }) => contractId ?? []))];
  const contracts = await loadContracts(db, { ids, includeArchived: true });
  return new Map(contracts.map((contract) => [contract.id, contract]));
}

function ownContractIds({ contractId, applicableContractIds }: Commit): readonly string[] | null {
  if (contractId !== null) return [contractId];
  return applicableContractIds.length === 0 ? null : applicableContractIds;
}

/** An interval in which nothing is paid from it. */
function closedAt(at: Instant): Interval {
  return { start: at, end: at };
}

/** The source segment of a rollover's segment. */
function sourceOf(
  { rolledOverFrom, contractId }: Commit,
  commits: ReadonlyMap<string, Commit>,
  segmentId: string,
  amount: Decimal,
): BookedBucket['source'] {
  const source = commits.get(rolledOverFrom?.commitId ?? '');
  if (source === undefined || contractId === null) return null;
  const from = source.accessSchedule.segments.find(({ id }) => rolledSegmentId(contractId, id) === segmentId);
  return from === undefined
    ? null
    : { segmentId: from.id, amount, fraction: source.rolloverFraction ?? ZERO };
}
