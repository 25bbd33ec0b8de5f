/** The state of an invoice, derived from a Stripe object alone, so that the order of events does not matter. */
import type Stripe from 'stripe';
import type { Currency } from '../../core/currencies.ts';
import type { ExternalInvoice, ExternalTax } from '../../core/external-invoice.ts';
import { type Instant, SECOND_MS } from '../../core/time.ts';
import { fromStripeUnits } from './amounts.ts';

/** Expanded whenever an invoice is read. */
export const EXPANDED = ['payments', 'payments.data.payment.payment_intent'];

export function externalOfInvoice(
  invoice: Stripe.Invoice,
  currency: Currency,
  sentAt: Instant | null,
): ExternalInvoice {
  const amount = (units: number) => fromStripeUnits(units, currency);
  const { finalized_at: finalizedAt, paid_at: paidAt } = invoice.status_transitions;
  return {
    billingProvider: 'stripe',
    status: statusOf(invoice, sentAt),
    externalId: invoice.id,
    number: invoice.number,
    issuedAt: instantOf(finalizedAt),
    paidAt: invoice.status === 'paid' ? instantOf(paidAt) : null,
    pdfUrl: invoice.invoice_pdf ?? null,
    paymentUrl: invoice.hosted_invoice_url ?? null,
    total: amount(invoice.total),
    subTotal: amount(invoice.subtotal),
    tax: taxOf(invoice, currency),
    paymentId: paymentOf(invoice),
    amountPaid: amount(paidOf(invoice)),
    ...failureOf(invoice.status === 'paid' ? null : intentOf(invoice)),
    error: invoice.last_finalization_error?.message ?? null,
  };
}

function statusOf(invoice: Stripe.Invoice, sentAt: Instant | null): ExternalInvoice['status'] {
  switch (invoice.status) {
    case 'paid':
      return 'PAID';
    case 'void':
      return 'VOID';
    case 'uncollectible':
      return 'UNCOLLECTIBLE';
    case 'open':
      return openStatus(invoice, sentAt);
    default:
      return 'DRAFT';
  }
}

function openStatus(invoice: Stripe.Invoice, sentAt: Instant | null): ExternalInvoice['status'] {
  if (invoice.amount_paid > 0 && invoice.amount_remaining > 0) return 'PARTIALLY_PAID';
  if (hasFailed(invoice)) return 'PAYMENT_FAILED';
  return sentAt === null ? 'FINALIZED' : 'SENT';
}

/** An attempt counts as soon as it begins: a debit takes days, and some payments wait for their customer. */
function hasFailed(invoice: Stripe.Invoice): boolean {
  if (!invoice.attempted || invoice.attempt_count === 0) return false;
  const intent = intentOf(invoice);
  if (intent === null) return true;
  return (
    !needsAction(intent) && (intent.status === 'requires_payment_method' || intent.status === 'canceled')
  );
}

/** Money that was collected, and amounts covered by a credit balance of the customer in Stripe, or a credit note. */
function paidOf(invoice: Stripe.Invoice): number {
  const { amount_paid: paid, amount_paid_off_stripe: paidElsewhere = 0 } = invoice;
  const { starting_balance: before, ending_balance: after, pre_payment_credit_notes_amount: notes } = invoice;
  // A negative balance is a credit. An amount that is moved to the balance because it cannot be charged is not a
  // payment.
  const credit = Math.max(0, Math.min(-before, (after ?? before) - before));
  return Math.max(paid, paidElsewhere) + credit + notes;
}

function taxOf({ total_taxes: taxes, ...invoice }: Stripe.Invoice, currency: Currency): ExternalTax | null {
  if (taxes === null || taxes.length === 0) return null;
  const sum = (units: readonly number[]) =>
    fromStripeUnits(
      units.reduce((a, b) => a + b, 0),
      currency,
    );
  const taxable = taxableOf(taxes, invoice);
  return {
    amount: sum(taxes.map(({ amount }) => amount)),
    taxableAmount: taxable === null ? null : sum([taxable]),
    transactionId: null,
  };
}

/**
 * The taxable amount, counted once for all its taxes. Two rates may tax the same lines or different ones, which only
 * the lines show; null: some lines are not available.
 */
function taxableOf(
  taxes: NonNullable<Stripe.Invoice['total_taxes']>,
  { lines, subtotal }: Pick<Stripe.Invoice, 'lines' | 'subtotal'>,
): number | null {
  const bases = taxes.flatMap(({ taxable_amount: one }) => one ?? []);
  const largest = Math.max(...bases);
  if (bases.length === 0) return null;
  if (bases.length === 1 || largest === subtotal) return largest;
  if (lines.has_more) return null;
  const ofLines = lines.data.map(({ taxes: own }) =>
    Math.max(0, ...(own ?? []).flatMap(({ taxable_amount: one }) => one ?? [])),
  );
  return ofLines.reduce((total, one) => total + one, 0);
}

/** The payment that Stripe attempts; null: there is none, or it is not expanded. */
function intentOf({ payments }: Pick<Stripe.Invoice, 'payments'>): Stripe.PaymentIntent | null {
  const [payment] = (payments?.data ?? []).toSorted((a, b) => rank(a.status) - rank(b.status));
  const intent = payment?.payment.payment_intent;
  return typeof intent === 'object' ? intent : null;
}

function paymentOf({ payments }: Stripe.Invoice): string | null {
  const [payment] = (payments?.data ?? []).toSorted((a, b) => rank(a.status) - rank(b.status));
  const { payment_intent: intent, charge, payment_record: record } = payment?.payment ?? {};
  return idOf(intent) ?? idOf(charge) ?? idOf(record);
}

/** A succeeded payment has precedence, then a pending one. */
function rank(status: string): number {
  return ['paid', 'open'].includes(status) ? ['paid', 'open'].indexOf(status) : 2;
}

export function idOf(reference: string | { readonly id: string } | null | undefined): string | null {
  if (reference === null || reference === undefined) return null;
  return typeof reference === 'string' ? reference : reference.id;
}

function instantOf(seconds: number | null): Instant | null {
  return seconds === null ? null : seconds * SECOND_MS;
}

export function externalOfIntent(
  intent: Stripe.PaymentIntent,
  currency: Currency,
  tax: ExternalTax | null,
): ExternalInvoice {
  const total = fromStripeUnits(intent.amount, currency);
  const isPaid = intent.status === 'succeeded';
  return {
    billingProvider: 'stripe',
    status: intentStatus(intent),
    externalId: intent.id,
    number: null,
    issuedAt: instantOf(intent.created),
    paidAt: isPaid ? instantOf(paidAtOf(intent)) : null,
    pdfUrl: null,
    paymentUrl: null,
    total,
    subTotal: tax === null ? total : total.minus(tax.amount),
    tax,
    paymentId: intent.id,
    amountPaid: fromStripeUnits(isPaid ? intent.amount_received : 0, currency),
    ...failureOf(isPaid ? null : intent),
    error: isPaid ? null : (intent.last_payment_error?.message ?? null),
  };
}

/** The error of the last payment; null: it is paid, or there is no payment. */
function failureOf(
  intent: Stripe.PaymentIntent | null,
): Pick<ExternalInvoice, 'paymentError' | 'paymentFailure'> {
  const error = intent?.last_payment_error ?? null;
  if (error === null) return { paymentError: null, paymentFailure: null };
  const { type, code = null, decline_code: declineCode = null, message = null } = error;
  return {
    paymentError: withReason(message, declineCode),
    paymentFailure: { type, code, declineCode, message },
  };
}

/** `Your card was declined: insufficient funds`. Codes that say no more than the sentence are left out. */
function withReason(message: string | null, declineCode: string | null): string | null {
  if (message === null || declineCode === null || VAGUE.includes(declineCode)) return message;
  return `${message.replace(/\.$/, '')}: ${declineCode.replaceAll('_', ' ')}`;
}

const VAGUE: readonly string[] = ['generic_decline', 'authentication_required'];

/** The creation time of its charge, if expanded; else its own. */
function paidAtOf({ latest_charge: charge, created }: Stripe.PaymentIntent): number {
  return typeof charge === 'object' && charge !== null ? charge.created : created;
}

/** Whether its customer has to confirm it, for example with a second factor: it can still be paid. */
export function needsAction({ status, last_payment_error: error }: Stripe.PaymentIntent): boolean {
  if (status === 'requires_action') return true;
  // Off session the bank refuses such a payment, and requires the customer to authenticate.
  return status === 'requires_payment_method' && error?.code === 'authentication_required';
}

function intentStatus(intent: Stripe.PaymentIntent): ExternalInvoice['status'] {
  switch (intent.status) {
    case 'succeeded':
      return 'PAID';
    case 'canceled':
      return 'VOID';
    case 'requires_payment_method':
      return intent.last_payment_error === null || needsAction(intent) ? 'FINALIZED' : 'PAYMENT_FAILED';
    default:
      return 'FINALIZED';
  }
}
