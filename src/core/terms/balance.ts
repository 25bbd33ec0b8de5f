/**
 * What a commit or credit is worth by its terms alone (docs/contracts.md, "Balances"): the ledger entries
 * that its schedule makes, what of it is open at an instant, and what was paid for it.
 */
import { type Decimal, divideTo20Places, sum, ZERO } from '../decimal.ts';
import type { Instant } from '../time.ts';
import type { Commit, CommitType } from './commits.ts';

export const LEDGER_ENTRY_KINDS = [
  'SEGMENT_START',
  'INITIAL_BALANCE',
  'AUTOMATED_INVOICE_DEDUCTION',
  'ROLLOVER',
  'EXPIRATION',
  'CANCELED',
  'CREDITED',
  'SEAT_BASED_ADJUSTMENT',
  'TRUEUP',
  'MANUAL',
] as const;
export type LedgerEntryKind = (typeof LEDGER_ENTRY_KINDS)[number];

/** One movement of a balance; what does not belong to its kind is null. */
export interface LedgerEntry {
  readonly kind: LedgerEntryKind;
  /** Signed. */
  readonly amount: Decimal;
  readonly timestamp: Instant;
  readonly segmentId: string | null;
  readonly invoiceId: string | null;
  readonly contractId: string | null;
  readonly newContractId: string | null;
  readonly reason: string | null;
}

export interface Balance {
  /** What can be used now; never negative. */
  readonly balance: Decimal;
  readonly ledger: readonly LedgerEntry[];
}

/** The entries that grant the amounts of the access schedule, by time. An archived commit grants nothing. */
export function grantEntries(commit: Commit): LedgerEntry[] {
  if (commit.archivedAt !== null) return [];
  const kind: LedgerEntryKind = commit.type === 'POSTPAID' ? 'INITIAL_BALANCE' : 'SEGMENT_START';
  return commit.accessSchedule.segments
    .map((segment) => ({
      kind,
      amount: segment.amount,
      timestamp: segment.startingAt,
      segmentId: segment.id,
      invoiceId: null,
      contractId: null,
      newContractId: null,
      reason: null,
    }))
    .toSorted((a, b) => a.timestamp - b.timestamp);
}

/**
 * The amounts of the segments that are open at `at`. The segments of a contract's commit are cut at its
 * end: `contractEnd` is null for an open contract and for commits of a customer.
 */
export function openAmount(commit: Commit, at: Instant, contractEnd: Instant | null): Decimal {
  if (commit.archivedAt !== null) return ZERO;
  const cut = contractEnd ?? Number.POSITIVE_INFINITY;
  return sum(
    commit.accessSchedule.segments
      .filter(({ startingAt, endingBefore }) => startingAt <= at && at < Math.min(endingBefore, cut))
      .map((segment) => segment.amount),
  );
}

/**
 * What was paid for one unit that is granted: the invoiced total ÷ the granted total, 0 without an invoice
 * schedule. `fiatPerAccessUnit` converts where the amounts differ in unit; null where nothing is known to:
 * then, and where nothing is granted, the answer is null.
 */
export function costBasis(commit: Commit, fiatPerAccessUnit: Decimal | null): Decimal | null {
  const { accessSchedule, invoiceSchedule } = commit;
  if (invoiceSchedule === null) return ZERO;
  const granted = sum(accessSchedule.segments.map((segment) => segment.amount));
  if (granted.lte(ZERO)) return null;
  const paid = sum(invoiceSchedule.items.map((item) => item.amount));
  if (accessSchedule.creditTypeId === invoiceSchedule.creditTypeId) return divideTo20Places(paid, granted);
  if (fiatPerAccessUnit === null || fiatPerAccessUnit.lte(ZERO)) return null;
  return divideTo20Places(paid, granted.times(fiatPerAccessUnit));
}

/** The name of an entry as clients know it; `PREPAID_COMMIT_SEGMENT_START`. */
export function ledgerEntryType(type: CommitType, kind: LedgerEntryKind): string {
  return type === 'CREDIT' ? `CREDIT_${kind}` : `${type}_COMMIT_${kind}`;
}
