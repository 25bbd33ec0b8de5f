/**
 * The ledger and the balance of a commit or credit (docs/explanation/drawdown.md, "Ledger"). Both are computed from its
 * terms and `LedgerFacts` on every read; neither is stored. Pure.
 *
 * Each segment of the access schedule is a bucket: its amount is granted, adjusted by hand, drawn down by invoices,
 * and when the segment closes the rest rolls over or is lost.
 */
import { type Decimal, maximum, minimum, sum, ZERO } from '../../core/decimal.ts';
import type { Commit } from '../../core/terms/commits.ts';
import {
  type Balance,
  type BalanceDeduction,
  type CanceledPurchase,
  LEDGER_ENTRY_KINDS,
  type LedgerEntry,
  type LedgerEntryKind,
  type ManualEntry,
  type RolledAmount,
  type TrueUp,
} from '../../core/terms/ledger.ts';
import type { AccessSegment } from '../../core/terms/schedules.ts';
import type { Instant } from '../../core/time.ts';
import { compareText } from '../quantities/group-values.ts';
import { isSeatAdjustment } from './seat-adjustments.ts';

/** Facts about a commit that its own terms do not contain. */
export interface LedgerFacts {
  readonly now: Instant;
  /** The latest end of access for all segments. Null: no limit, as for commits of a customer. */
  readonly contractEnd: Instant | null;
  /** When its contract was archived; null while it is active, and for commits of a customer. */
  readonly contractArchivedAt: Instant | null;
  /** Whether the whole amount is withheld because a payment is outstanding. */
  readonly isWithheld: boolean;
  /** At most one per segment. Each amount is a limit: at most the remaining amount rolls over. */
  readonly rolledOver: readonly RolledAmount[];
  readonly deductions: readonly BalanceDeduction[];
  readonly manualEntries: readonly ManualEntry[];
  /** The true-up of a postpaid commit; null if its shortfall is on no invoice. */
  readonly trueUp: TrueUp | null;
  /** Set while an invoice of its purchase is voided and not regenerated. */
  readonly canceledPurchase: CanceledPurchase | null;
}

/** The ledger at `facts.now`, and the balance of the segments open then. */
export function balanceOf(commit: Commit, facts: LedgerFacts): Balance {
  if (facts.isWithheld) return { balance: ZERO, ledger: [], bySegment: new Map() };
  const buckets = commit.accessSchedule.segments.map((segment) => bucketOf(commit, segment, facts));
  const entries = buckets.flatMap((bucket) => bucketEntries(bucket, facts.now));
  const bySegment = new Map(
    buckets
      .filter((bucket) => isOpenAt(bucket, facts.now))
      .map(({ segment: { id } }) => {
        const own = entries.filter(({ segmentId }) => segmentId === id);
        return [id, maximum(sum(own.map((entry) => entry.amount)), ZERO)];
      }),
  );
  // The sort is stable: equal entries stay in the order of the schedule.
  return { balance: sum(bySegment.values()), ledger: entries.toSorted(byTime), bySegment };
}

function byTime(a: LedgerEntry, b: LedgerEntry): number {
  return (
    a.timestamp - b.timestamp ||
    rankOf(a) - rankOf(b) ||
    (a.segmentId === b.segmentId ? compareText(a.invoiceId ?? '', b.invoiceId ?? '') : 0)
  );
}

function rankOf({ kind }: LedgerEntry): number {
  return LEDGER_ENTRY_KINDS.indexOf(kind);
}

/** A segment, its movements, and its end. */
interface Bucket {
  readonly commit: Commit;
  readonly segment: AccessSegment;
  /**
   * The earliest of the segment's end, its contract's end, archiving, cancellation and renewal. May lie before its
   * start.
   */
  readonly closesAt: Instant;
  /** The kind of entry that removes the remaining amount when the segment closes. */
  readonly closingKind: 'EXPIRATION' | 'CANCELED';
  /** The voided invoice that canceled it; null if none did. */
  readonly canceledBy: string | null;
  readonly rolled: RolledAmount | null;
  readonly deductions: readonly BalanceDeduction[];
  readonly manualEntries: readonly ManualEntry[];
  readonly trueUp: TrueUp | null;
}

function bucketOf(commit: Commit, segment: AccessSegment, facts: LedgerFacts): Bucket {
  const { contractEnd, contractArchivedAt, rolledOver, canceledPurchase } = facts;
  const { archivedAt } = commit;
  const stoppedAt = Math.min(archivedAt ?? NEVER, canceledPurchase?.at ?? NEVER);
  const isOwn = ({ segmentId }: { readonly segmentId: string }) => segmentId === segment.id;
  // A commit that was archived or canceled before the renewal has nothing to roll over.
  const rolled = rolledOver.find((one) => isOwn(one) && stoppedAt >= one.rolledAt);
  const ends = [segment.endingBefore, contractEnd, rolled?.rolledAt ?? null].filter((end) => end !== null);
  const endsAt = Math.min(...ends);
  const isTakenBack =
    canceledPurchase !== null && canceledPurchase.at < Math.min(endsAt, archivedAt ?? NEVER);
  const isArchivedAlone = archivedAt !== null && archivedAt < endsAt && archivedAt !== contractArchivedAt;
  const isCanceled = isTakenBack || isArchivedAlone;
  return {
    commit,
    segment,
    closesAt: Math.min(endsAt, stoppedAt),
    // CANCELED is no ledger entry of postpaid commits for clients.
    closingKind: isCanceled && commit.type !== 'POSTPAID' ? 'CANCELED' : 'EXPIRATION',
    canceledBy: isTakenBack ? canceledPurchase.invoiceId : null,
    rolled: rolled ?? null,
    deductions: byInvoice(facts.deductions.filter(isOwn)),
    manualEntries: facts.manualEntries.filter(isOwn),
    trueUp: facts.trueUp !== null && isOwn(facts.trueUp) ? facts.trueUp : null,
  };
}

/** A deduction of an invoice from shares of several seats is one entry. */
function byInvoice(deductions: readonly BalanceDeduction[]): BalanceDeduction[] {
  const found = new Map<string, BalanceDeduction>();
  for (const one of deductions) {
    const known = found.get(one.invoiceId);
    const amount = one.amount.plus(known?.amount ?? ZERO);
    found.set(one.invoiceId, {
      ...one,
      amount,
      timestamp: Math.max(one.timestamp, known?.timestamp ?? one.timestamp),
    });
  }
  return [...found.values()];
}

const NEVER = Number.POSITIVE_INFINITY;

function isOpenAt({ segment, closesAt }: Bucket, at: Instant): boolean {
  return segment.startingAt <= at && at < closesAt;
}

/**
 * Grant, adjustments and deductions are listed whatever their date, closing entries once the segment has closed. A
 * segment that closes before its start closes at its start, so that the amount counts in no balance.
 */
function bucketEntries(bucket: Bucket, now: Instant): LedgerEntry[] {
  const { commit, segment, closesAt, closingKind, rolled, trueUp } = bucket;
  const entries = [
    entryOf(segment, grantKind(commit, segment), segment.amount, segment.startingAt),
    ...bucket.manualEntries.map(({ amount, timestamp, reason, creditNoteId }) => ({
      ...entryOf(segment, creditNoteId == null ? 'MANUAL' : 'CREDIT_NOTE', amount, timestamp),
      reason,
    })),
    ...bucket.deductions.flatMap((deduction) => deductionEntries(bucket, deduction)),
  ];
  const left = () => maximum(sum(entries.map((entry) => entry.amount)), ZERO);
  const take = (kind: LedgerEntryKind, most: Decimal, at: Instant, more: Partial<LedgerEntry> = {}) => {
    const amount = minimum(left(), most);
    if (amount.gt(ZERO)) entries.push({ ...entryOf(segment, kind, ZERO.minus(amount), at), ...more });
  };
  const end = Math.max(segment.startingAt, closesAt);
  if (rolled !== null && rolled.rolledAt <= now) {
    take('ROLLOVER', rolled.amount, end, { newContractId: rolled.newContractId });
  }
  // Until the segment closes, usage can draw on it.
  const billedAt = trueUp === null ? end : Math.max(trueUp.timestamp, closesAt);
  const isBilled = trueUp !== null && billedAt <= now;
  if (isBilled) {
    const { invoiceId, contractId } = trueUp;
    take('TRUEUP', trueUp.amount, billedAt, { invoiceId, contractId });
  }
  // The amount that a true-up will bill does not expire.
  const reserved = trueUp === null || isBilled ? ZERO : trueUp.amount;
  const canceledBy = bucket.canceledBy === null ? {} : { invoiceId: bucket.canceledBy };
  if (closesAt <= now) take(closingKind, maximum(left().minus(reserved), ZERO), end, canceledBy);
  return entries;
}

function grantKind(commit: Commit, segment: AccessSegment): LedgerEntryKind {
  if (commit.type === 'POSTPAID') return 'INITIAL_BALANCE';
  return isSeatAdjustment(commit, segment) ? 'SEAT_BASED_ADJUSTMENT' : 'SEGMENT_START';
}

/** An invoice that was voided gives the amount back. */
function deductionEntries({ commit, segment }: Bucket, deduction: BalanceDeduction): LedgerEntry[] {
  const { amount, timestamp, creditedAt, invoiceId, contractId } = deduction;
  const kind = 'AUTOMATED_INVOICE_DEDUCTION';
  const taken = { ...entryOf(segment, kind, ZERO.minus(amount), timestamp), invoiceId, contractId };
  if (creditedAt === null) return [taken];
  // CREDITED is no ledger entry of postpaid commits for clients.
  const backKind = commit.type === 'POSTPAID' ? kind : 'CREDITED';
  return [taken, { ...entryOf(segment, backKind, amount, creditedAt), invoiceId, contractId }];
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
