/** The remaining amounts of commits and credits, for alerts; equal to those of the ledgers. */
import { type CustomFieldsById, customFieldsOf } from '../../core/custom-fields.ts';
import { type Decimal, maximum, sum, ZERO } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import type { Commit } from '../../core/terms/commits.ts';
import { type Balance, type BalanceDeduction, isGrant, type ManualEntry } from '../../core/terms/ledger.ts';
import { contains, type Instant } from '../../core/time.ts';
import type { GrantFact, OpenSegment, SeatFact } from '../../rating/alerts/facts.ts';
import { loadManualEntries } from '../../store/balances/manual-balance-entries.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { balancesWithDrafts, withOwners } from '../balance-queries/balances.ts';
import { loadFinalDeductions } from '../balances/final-deductions.ts';
import { type DividedCommit, loadDividedCommits } from '../balances/seat-shares.ts';

interface GrantSources {
  /** Active commits of any customers. */
  readonly commits: readonly Commit[];
  readonly fields: CustomFieldsById;
  /** The amounts that drafts take. */
  readonly draftDeductions: readonly BalanceDeduction[];
  readonly now: Instant;
}

interface Grants {
  readonly grants: readonly GrantFact[];
  readonly seats: readonly SeatFact[];
}

/** By customer; customers without commits and credits are absent. A fixed number of queries. */
export async function loadGrantFacts(
  db: Database | Transaction,
  { commits, fields, draftDeductions, now }: GrantSources,
): Promise<Map<string, Grants>> {
  if (commits.length === 0) return new Map();
  const divided = await loadDividedCommits(db, commits);
  const whole = commits.filter((commit) => divided(commit) === null);
  const shared = commits.flatMap((commit) => {
    const shares = divided(commit);
    return shares === null ? [] : [{ commit, shares }];
  });
  const balances = await balancesWithDrafts({ db, draftDeductions }, await withOwners(db, whole), now);
  const seats = await loadSeatFacts(db, shared, draftDeductions, now);
  const grants = whole.map((commit) => ({
    customerId: commit.customerId,
    fact: grantFact(commit, balances.get(commit.id), fields, now),
  }));
  const grantsOf = groupBy(grants, ({ customerId }) => customerId);
  const seatsOf = groupBy(seats, ({ customerId }) => customerId);
  return new Map(
    [...new Set(commits.map(({ customerId }) => customerId))].map((id) => [
      id,
      {
        grants: (grantsOf.get(id) ?? []).map(({ fact }) => fact),
        seats: (seatsOf.get(id) ?? []).map(({ fact }) => fact),
      },
    ]),
  );
}

function grantFact(
  commit: Commit,
  balance: Balance | undefined,
  fields: CustomFieldsById,
  now: Instant,
): GrantFact {
  const open = commit.accessSchedule.segments.filter(({ startingAt: start, endingBefore: end }) =>
    contains({ start, end }, now),
  );
  return {
    id: commit.id,
    kind: kindOf(commit),
    creditTypeId: commit.accessSchedule.creditTypeId,
    fields: customFieldsOf(fields, commit.id),
    contractFields: customFieldsOf(fields, commit.contractId ?? ''),
    segments: open.map(
      ({ id, endingBefore }): OpenSegment => ({
        id,
        endingBefore,
        granted: grantedIn(id, balance),
        remaining: balance?.bySegment.get(id) ?? ZERO,
      }),
    ),
  };
}

/** The amount actually granted: a rollover may be less than its schedule states. */
function grantedIn(segmentId: string, balance: Balance | undefined): Decimal {
  const entries = (balance?.ledger ?? []).filter((entry) => entry.segmentId === segmentId && isGrant(entry));
  return sum(entries.map(({ amount }) => amount));
}

function kindOf({ type }: Commit): GrantFact['kind'] {
  return type === 'CREDIT' ? 'credit' : 'commit';
}

/** The remaining share of each seat in commits that are divided among seats, while it may use it. */
async function loadSeatFacts(
  db: Database | Transaction,
  shared: readonly { readonly commit: Commit; readonly shares: DividedCommit }[],
  draftDeductions: readonly BalanceDeduction[],
  now: Instant,
): Promise<{ readonly customerId: string; readonly fact: SeatFact }[]> {
  if (shared.length === 0) return [];
  const commits = shared.map(({ commit }) => commit);
  const deductions = [...(await loadFinalDeductions(db, commits)), ...draftDeductions];
  const ofCommit = groupBy(
    deductions.filter(({ creditedAt }) => creditedAt === null),
    ({ commitId }) => commitId,
  );
  const entries = await loadManualEntries(
    db,
    commits.map(({ id }) => id),
  );
  return shared.flatMap(({ commit, shares }) => {
    const changes = shares.bySegment<ManualEntry>(entries.get(commit.id) ?? []);
    const taken = ofCommit.get(commit.id) ?? [];
    return shares.shares
      .filter(({ access }) => access.some((time) => contains(time, now)))
      .map(({ seatId, amount }) => {
        const added = sum(changes.filter((entry) => entry.seatId === seatId).map((entry) => entry.amount));
        const used = sum(taken.filter((one) => one.seatId === seatId).map((one) => one.amount));
        return {
          customerId: commit.customerId,
          fact: {
            groupKey: shares.groupKey,
            seatId,
            kind: kindOf(commit),
            creditTypeId: commit.accessSchedule.creditTypeId,
            remaining: maximum(amount.plus(added).minus(used), ZERO),
          },
        };
      });
  });
}
