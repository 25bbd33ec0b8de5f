/**
 * The ledger and the balance of a commit or credit (docs/contracts.md, "Balances"). Both are computed from
 * its terms and `LedgerFacts` on every read; neither is stored. Pure.
 *
 * Each segment of the access schedule is a bucket: its amount is granted, may roll over, and the rest expires.
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

/** Facts about a commit that its own terms do not contain. */
export interface LedgerFacts {
  readonly now: Instant;
  /** The latest end of access for all segments. Null: no limit, as for commits of a customer. */
  readonly contractEnd: Instant | null;
  /** Whether the whole amount is withheld because a payment is outstanding. */
  readonly isWithheld: boolean;
  /** At most one per segment. */
  readonly rolledOver: readonly RolledAmount[];
}

/** The ledger at `facts.now`, and the balance of the segments open then. */
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

/** A segment and its end. */
interface Bucket {
  readonly segment: AccessSegment;
  readonly grantKind: LedgerEntryKind;
  /** The earliest of its own end, its contract's end, archiving and renewal. May lie before its start. */
  readonly closesAt: Instant;
  readonly rolled: RolledAmount | null;
}

function bucketOf(commit: Commit, segment: AccessSegment, facts: LedgerFacts): Bucket {
  const { contractEnd, rolledOver } = facts;
  const { archivedAt } = commit;
  // A commit that was archived before the renewal has nothing to roll over.
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
 * The grant is listed from the start, the expiration once the segment has closed. A segment that closes before
 * its start expires at its start, so that the amount counts in no balance.
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
