/**
 * The ledger of a commit or credit and its balance (docs/contracts.md, "Balances"). Both are computed from
 * its terms and from what has become of it whenever they are read; nothing of them is stored. Pure.
 *
 * Each segment of the access schedule is a bucket: it is granted, moved, and what is left of it expires.
 */
import { type Decimal, maximum, sum, ZERO } from '../../core/decimal.ts';
import type { Commit } from '../../core/terms/commits.ts';
import {
  type Balance,
  LEDGER_ENTRY_KINDS,
  type LedgerEntry,
  type LedgerEntryKind,
  type RolledAmount,
} from '../../core/terms/ledger.ts';
import type { AccessSegment } from '../../core/terms/schedules.ts';
import type { Instant } from '../../core/time.ts';

/** What has become of a commit, as far as its own terms do not say it. */
export interface LedgerFacts {
  readonly now: Instant;
  /** Where the access of all segments ends at the latest; null: nowhere, as for commits of a customer. */
  readonly contractEnd: Instant | null;
  /** Whether a payment that has not come in yet withholds the whole amount. */
  readonly isWithheld: boolean;
  /** One for a segment at most. */
  readonly rolledOver: readonly RolledAmount[];
}

/** The ledger as it reads at `facts.now`, and what its open segments come to then. */
export function balanceOf(commit: Commit, facts: LedgerFacts): Balance {
  if (facts.isWithheld) return { balance: ZERO, ledger: [] };
  const { now } = facts;
  const buckets = commit.accessSchedule.segments.map((segment) => bucketOf(commit, segment, facts));
  const ledger = buckets
    .flatMap((bucket) => bucketEntries(bucket, now))
    .toSorted((a, b) => a.timestamp - b.timestamp || rankOf(a) - rankOf(b));
  const open = new Set(buckets.filter((one) => isOpenAt(one, now)).map(({ segment }) => segment.id));
  const usable = ledger.filter(({ segmentId, timestamp }) => open.has(segmentId ?? '') && timestamp <= now);
  return { balance: maximum(sum(usable.map((entry) => entry.amount)), ZERO), ledger };
}

/** A segment and what ends it. */
interface Bucket {
  readonly segment: AccessSegment;
  readonly grantKind: LedgerEntryKind;
  /** When its own end, its contract's, its commit's archiving or a renewal closes it; maybe before it has begun. */
  readonly closesAt: Instant;
  readonly rolled: RolledAmount | null;
}

function bucketOf(commit: Commit, segment: AccessSegment, facts: LedgerFacts): Bucket {
  const { contractEnd, rolledOver } = facts;
  const { archivedAt } = commit;
  // What was archived before its renewal has nothing to roll over, whatever the newer contract was to get.
  const rolled = rolledOver.find(
    ({ segmentId, rolledAt }) => segmentId === segment.id && (archivedAt === null || archivedAt >= rolledAt),
  );
  const limits = [contractEnd, archivedAt, rolled?.rolledAt ?? null];
  return {
    segment,
    grantKind: commit.type === 'POSTPAID' ? 'INITIAL_BALANCE' : 'SEGMENT_START',
    closesAt: Math.min(segment.endingBefore, ...limits.filter((limit) => limit !== null)),
    rolled: rolled ?? null,
  };
}

function isOpenAt({ segment, closesAt }: Bucket, at: Instant): boolean {
  return segment.startingAt <= at && at < closesAt;
}

/**
 * What is granted is on record from the beginning, what a closed segment loses once it has closed. One that
 * closes before it has begun loses its amount where it would have got it, so that no sum up to any instant
 * counts it.
 */
function bucketEntries({ segment, grantKind, closesAt, rolled }: Bucket, now: Instant): LedgerEntry[] {
  const granted = entryOf(segment, grantKind, segment.amount, segment.startingAt);
  if (closesAt > now) return [granted];
  const end = Math.max(segment.startingAt, closesAt);
  const lost: LedgerEntry[] = [];
  if (rolled !== null && rolled.rolledAt <= now) {
    const rollover = entryOf(segment, 'ROLLOVER', ZERO.minus(rolled.amount), end);
    lost.push({ ...rollover, newContractId: rolled.newContractId });
  }
  const left = sum([granted, ...lost].map((entry) => entry.amount));
  lost.push(entryOf(segment, 'EXPIRATION', ZERO.minus(left), end));
  return [granted, ...lost.filter((entry) => !entry.amount.eq(ZERO))];
}

function entryOf(
  { id }: AccessSegment,
  kind: LedgerEntryKind,
  amount: Decimal,
  timestamp: Instant,
): LedgerEntry {
  const nothing = { invoiceId: null, contractId: null, newContractId: null, reason: null };
  return { kind, amount, timestamp, segmentId: id, ...nothing };
}

function rankOf({ kind }: LedgerEntry): number {
  return LEDGER_ENTRY_KINDS.indexOf(kind);
}
