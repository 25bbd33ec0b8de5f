/** The ledger of a commit or credit: its entries, and the balance they come to (docs/contracts.md, "Balances"). */
import type { Decimal } from '../decimal.ts';
import type { Instant } from '../time.ts';
import type { CommitType } from './commits.ts';

/** In the order of entries with the same timestamp: grants, then deductions, then closing entries. */
export const LEDGER_ENTRY_KINDS = [
  'SEGMENT_START',
  'INITIAL_BALANCE',
  'MANUAL',
  'SEAT_BASED_ADJUSTMENT',
  'AUTOMATED_INVOICE_DEDUCTION',
  'CREDITED',
  'ROLLOVER',
  'TRUEUP',
  'CANCELED',
  'EXPIRATION',
] as const;
export type LedgerEntryKind = (typeof LEDGER_ENTRY_KINDS)[number];

/** One change of a balance; fields that its kind does not have are null. */
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

/** The amount that a renewal rolled over from a segment into a commit of the newer contract. */
export interface RolledAmount {
  readonly segmentId: string;
  readonly amount: Decimal;
  readonly newContractId: string;
  /** Where the newer contract starts. */
  readonly rolledAt: Instant;
}

export interface Balance {
  /** The amount available now; never negative. */
  readonly balance: Decimal;
  /** By time; at the same time in the order of `LEDGER_ENTRY_KINDS`, then of the schedule. */
  readonly ledger: readonly LedgerEntry[];
}

/** The name of an entry as clients know it; `PREPAID_COMMIT_SEGMENT_START`. */
export function ledgerEntryType(type: CommitType, kind: LedgerEntryKind): string {
  return type === 'CREDIT' ? `CREDIT_${kind}` : `${type}_COMMIT_${kind}`;
}
