/** The state of a credit note at a billing provider (docs/explanation/credit-notes.md, "At the provider"). */
import type { BillingProvider } from './billing-providers.ts';
import type { Decimal } from './decimal.ts';
import type { Instant } from './time.ts';

/**
 * QUEUED: not there yet. SKIPPED: nothing of it belongs there. VOID: voided there. INVALID_REQUEST_ERROR: refused, and
 * not tried again by itself.
 */
export const EXTERNAL_NOTE_STATUSES = [
  'QUEUED',
  'ISSUED',
  'VOID',
  'SKIPPED',
  'INVALID_REQUEST_ERROR',
] as const;
export type ExternalNoteStatus = (typeof EXTERNAL_NOTE_STATUSES)[number];

/** Amounts are in the unit of the invoice. Null: unknown, or not there. */
export interface ExternalCreditNote {
  readonly billingProvider: BillingProvider;
  readonly status: ExternalNoteStatus;
  readonly externalId: string | null;
  readonly number: string | null;
  readonly issuedAt: Instant | null;
  readonly pdfUrl: string | null;
  /** With tax. */
  readonly total: Decimal | null;
  readonly tax: Decimal | null;
  /** The four add up to the total. This one reduced the amount due of the open invoice. */
  readonly prePayment: Decimal | null;
  readonly refund: Decimal | null;
  /** It went to the balance of the customer there, which its next invoice uses. */
  readonly customerBalance: Decimal | null;
  /** It is given back outside of the provider. */
  readonly outOfBand: Decimal | null;
  readonly error: string | null;
}

/** A note that the provider does not have. */
export function unsentNote(
  billingProvider: BillingProvider,
  status: ExternalNoteStatus,
  error: string | null,
): ExternalCreditNote {
  const nothing = { externalId: null, number: null, issuedAt: null, pdfUrl: null, total: null, tax: null };
  return {
    ...{ billingProvider, status, error, ...nothing },
    ...{ prePayment: null, refund: null, customerBalance: null, outOfBand: null },
  };
}
