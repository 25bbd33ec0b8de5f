/** The copy of an invoice at a billing provider, as clients see it (docs/explanation/payments.md). */
import type { BillingProvider } from './billing-providers.ts';
import type { Decimal } from './decimal.ts';
import type { Instant } from './time.ts';

/** The states of an invoice at a provider, as the interface names them. */
export const EXTERNAL_STATUSES = [
  'DRAFT',
  'FINALIZED',
  'PAID',
  'PARTIALLY_PAID',
  'UNCOLLECTIBLE',
  'VOID',
  'DELETED',
  'PAYMENT_FAILED',
  'INVALID_REQUEST_ERROR',
  'SKIPPED',
  'SENT',
  'QUEUED',
] as const;
export type ExternalStatus = (typeof EXTERNAL_STATUSES)[number];

/** Amounts are in the unit of the invoice: cents for US dollars. Null: unknown or not applicable. */
export interface ExternalTax {
  readonly amount: Decimal;
  readonly taxableAmount: Decimal | null;
  readonly transactionId: string | null;
}

/** Why a payment failed, as reported by its provider. */
export interface PaymentFailure {
  readonly type: string | null;
  readonly code: string | null;
  /** The decline code of the bank. */
  readonly declineCode: string | null;
  readonly message: string | null;
}

/** The known state of the invoice at the provider. Null: unknown or not applicable. */
export interface ExternalInvoice {
  readonly billingProvider: BillingProvider;
  readonly status: ExternalStatus;
  /** Its id at the provider. */
  readonly externalId: string | null;
  /** Its number at the provider. */
  readonly number: string | null;
  /** When it was finalized at the provider. */
  readonly issuedAt: Instant | null;
  readonly paidAt: Instant | null;
  /** A link with http or https. */
  readonly pdfUrl: string | null;
  /** The page where the customer can pay it. */
  readonly paymentUrl: string | null;
  /** In the unit of the invoice. */
  readonly total: Decimal | null;
  readonly subTotal: Decimal | null;
  readonly tax: ExternalTax | null;
  readonly paymentId: string | null;
  /** The part that is paid: money, and credit that the customer had at the provider. In the unit of the invoice. */
  readonly amountPaid: Decimal | null;
  /** Why its last payment failed, as a sentence from the provider. */
  readonly paymentError: string | null;
  /** The same failure with its codes, for messages. Not stored. */
  readonly paymentFailure?: PaymentFailure | null;
  /** The provider's objection to it, in a sentence. */
  readonly error: string | null;
  /** Whether it is voided here, was paid at the provider, and no refund is recorded. Providers do not report this. */
  readonly refundDue?: boolean;
}

/**
 * Whether it is paid with money, or with a credit of the customer at the provider. A provider may report an invoice as
 * paid because it cannot charge its amount.
 */
export function isPaidForReal({ status, amountPaid, total }: ExternalInvoice): boolean {
  if (status !== 'PAID') return false;
  return amountPaid === null || total === null || amountPaid.gte(total);
}

/** States in which the customer has paid, wholly or partly. */
export const PAID_STATUSES: readonly ExternalStatus[] = ['PAID', 'PARTIALLY_PAID'];

/** States in which the provider may still change the invoice, so it is polled. */
const OPEN_STATUSES: readonly ExternalStatus[] = [
  'DRAFT',
  'FINALIZED',
  'PARTIALLY_PAID',
  'UNCOLLECTIBLE',
  'PAYMENT_FAILED',
  'SENT',
];

export function isOpen(status: ExternalStatus): boolean {
  return OPEN_STATUSES.includes(status);
}
