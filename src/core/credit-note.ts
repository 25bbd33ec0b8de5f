/** Credit notes: amounts of an issued invoice that are taken back (docs/explanation/credit-notes.md). */
import type { Decimal } from './decimal.ts';
import type { LinePayer } from './invoice.ts';
import type { Instant, Interval } from './time.ts';

export const CREDIT_NOTE_REASONS = [
  'order_change',
  'duplicate',
  'service_issue',
  'usage_correction',
  'other',
] as const;
export type CreditNoteReason = (typeof CREDIT_NOTE_REASONS)[number];

/** Where the money of a note goes that the customer has paid, or does not have to pay. */
export const SETTLEMENTS = ['refund', 'credit_balance', 'offset_unpaid'] as const;
export type Settlement = (typeof SETTLEMENTS)[number];

export const DEFAULT_CREDIT_NOTE_PATTERN = 'CN-{year}-{number:6}';

export type CreditNoteStatus = 'ISSUED' | 'VOID';

/** A part of an invoice line that a note takes back. Amounts are positive, in the unit of the invoice. */
export interface CreditNoteLine {
  /** The line of the invoice. */
  readonly lineItemId: string;
  /** Null for conversions. */
  readonly productId: string | null;
  readonly name: string;
  readonly interval: Interval;
  /** Net of tax. */
  readonly amount: Decimal;
  /** Null: only the amount was given. */
  readonly quantity: Decimal | null;
  /** `money`: a part of the total of the invoice. `balance`: a commit or credit paid for it, and gets it back. */
  readonly paidBy: 'money' | 'balance';
  /** The balance that the line drew on; null: none. */
  readonly payer: LinePayer | null;
  /** The amount that goes back to the balance; 0 without one. */
  readonly givenBack: Decimal;
}

/** How the money of a note is settled. The three add up to its total. */
export interface SettledAmounts {
  /** The part that the customer does not have to pay any more. */
  readonly offset: Decimal;
  readonly refund: Decimal;
  /** A credit of the customer here. */
  readonly creditBalance: Decimal;
}

/** A change of a balance by a note: positive for amounts given back, negative for access that a purchase loses. */
export interface CreditNoteEntry {
  readonly commitId: string;
  /** A segment of the access schedule, or the share of a seat in it. */
  readonly segmentId: string;
  readonly amount: Decimal;
}

export interface CreditNote {
  readonly id: string;
  readonly number: string;
  readonly invoiceId: string;
  readonly customerId: string;
  readonly contractId: string;
  readonly status: CreditNoteStatus;
  readonly reason: CreditNoteReason;
  readonly memo: string | null;
  /** Null: nothing of it was to be paid in money. */
  readonly settlement: Settlement | null;
  readonly issuedAt: Instant;
  readonly voidedAt: Instant | null;
  readonly creditTypeId: string;
  /** The money that it takes back, net of tax, in whole minor units. */
  readonly subTotal: Decimal;
  readonly tax: Decimal;
  /** The part of its lines that goes back to balances. */
  readonly balanceAmount: Decimal;
  readonly settled: SettledAmounts;
  /** The credit that `credit_balance` has created; null: none. */
  readonly creditId: string | null;
  readonly uniquenessKey: string | null;
  readonly createdBy: string;
  readonly lines: readonly CreditNoteLine[];
}

/** A credit note without its lines. */
export type CreditNoteHead = Omit<CreditNote, 'lines'>;
