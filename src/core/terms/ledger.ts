/**
 * The ledger of a commit or credit: its entries, and the balance that is their sum (docs/explanation/drawdown.md,
 * "Ledger").
 */
import type { Decimal } from '../decimal.ts';
import type { Instant } from '../time.ts';
import type { CommitType } from './commits.ts';

/** The order of entries with the same timestamp: grants, then deductions, then closing entries. */
export const LEDGER_ENTRY_KINDS = [
  'SEGMENT_START',
  'INITIAL_BALANCE',
  'MANUAL',
  'SEAT_BASED_ADJUSTMENT',
  'AUTOMATED_INVOICE_DEDUCTION',
  'CREDITED',
  'CREDIT_NOTE',
  'ROLLOVER',
  'TRUEUP',
  'CANCELED',
  'EXPIRATION',
] as const;
export type LedgerEntryKind = (typeof LEDGER_ENTRY_KINDS)[number];

/** Entries that grant an amount, as opposed to those that use it. */
const GRANT_KINDS: readonly LedgerEntryKind[] = ['SEGMENT_START', 'INITIAL_BALANCE', 'SEAT_BASED_ADJUSTMENT'];

export function isGrant({ kind }: Pick<LedgerEntry, 'kind'>): boolean {
  return GRANT_KINDS.includes(kind);
}

/** One change of a balance; fields that do not apply to its kind are null. */
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

/** The maximum that a renewal rolls over from a segment into a commit of the newer contract. */
export interface RolledAmount {
  readonly segmentId: string;
  readonly amount: Decimal;
  readonly newContractId: string;
  /** The start of the newer contract. */
  readonly rolledAt: Instant;
}

/** The amount that an invoice takes from a segment. One per invoice and segment, or share of a seat in it. */
export interface BalanceDeduction {
  readonly commitId: string;
  readonly segmentId: string;
  /** The seat whose share it is; null or absent: the balance is not divided among seats. */
  readonly seatId?: string | null | undefined;
  readonly invoiceId: string;
  readonly contractId: string;
  /** Positive. */
  readonly amount: Decimal;
  /** The end of the invoice's service period, or of the segment if that is earlier. */
  readonly timestamp: Instant;
  /** Whether the invoice is finalized; a draft's deduction changes with it. */
  readonly isFinal: boolean;
  /** When the invoice was voided, which gives the amount back; null while it is active. */
  readonly creditedAt: Instant | null;
}

/** The canceled purchase of a commit, whose invoice was voided. */
export interface CanceledPurchase {
  readonly at: Instant;
  readonly invoiceId: string;
}

/** An adjustment of a segment, by hand or by a credit note. */
export interface ManualEntry {
  readonly id: string;
  readonly segmentId: string;
  /** The seat whose share it is; null or absent: the balance is not divided among seats. */
  readonly seatId?: string | null | undefined;
  /** Signed. */
  readonly amount: Decimal;
  readonly reason: string;
  readonly timestamp: Instant;
  /** Null or absent: by hand. */
  readonly creditNoteId?: string | null | undefined;
}

/** The shortfall of a postpaid commit on an invoice, issued or not. At most one per commit. */
export interface TrueUp {
  readonly commitId: string;
  readonly segmentId: string;
  readonly invoiceId: string;
  readonly contractId: string;
  /** Positive. */
  readonly amount: Decimal;
  /** The date of the invoice. */
  readonly timestamp: Instant;
}

export interface Balance {
  /** The amount available now; never negative. */
  readonly balance: Decimal;
  /** The balance of each segment that is open now. */
  readonly bySegment: ReadonlyMap<string, Decimal>;
  /** By time; entries at the same time in the order of `LEDGER_ENTRY_KINDS`, then of the schedule. */
  readonly ledger: readonly LedgerEntry[];
}

/** The name of an entry for clients; `PREPAID_COMMIT_SEGMENT_START`. */
export function ledgerEntryType(type: CommitType, kind: LedgerEntryKind): string {
  return type === 'CREDIT' ? `CREDIT_${kind}` : `${type}_COMMIT_${kind}`;
}
