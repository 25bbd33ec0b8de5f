/** Asks Stripe to collect an open invoice now, with the default payment method of the customer. */
import type Stripe from 'stripe';
import type { ExternalInvoice, ExternalStatus } from '../../core/external-invoice.ts';
import { type CollectResult, type Progress, ProviderProblem } from '../provider.ts';
import { deleted, type InvoiceJob } from './deliver-invoice.ts';
import { EXPANDED, externalOfInvoice } from './external-state.ts';
import { retrieveInvoice } from './find-invoice.ts';

/**
 * Nothing is collected unless the invoice is open and no payment of it is under way. Another call after a lost answer
 * is safe: a paid invoice is only read.
 */
export async function collectStripeInvoice(
  { access, document }: InvoiceJob,
  progress: Progress,
): Promise<CollectResult> {
  const { externalId: id } = progress.external;
  const before = id === null ? null : await retrieveInvoice(access, id);
  if (before === null) return { external: deleted(progress), isUnderWay: false, message: null };
  const shown = (invoice: Stripe.Invoice) => externalOfInvoice(invoice, document.currency, progress.sentAt);
  if (before.status !== 'open' || isUnderWay(before)) {
    return { external: shown(before), isUnderWay: isUnderWay(before), message: null };
  }
  try {
    const paid = await access.request('POST /v1/invoices/pay', (client, options) =>
      client.invoices.pay(before.id, { off_session: true, expand: EXPANDED }, options),
    );
    return { external: shown(paid), isUnderWay: false, message: null };
  } catch (error) {
    if (!(error instanceof ProviderProblem) || error.kind !== 'refused') throw error;
    const after = await retrieveInvoice(access, before.id);
    if (after === null) return { external: deleted(progress), isUnderWay: false, message: null };
    return { external: shown(after), isUnderWay: false, message: reasonOf(shown(after), error) };
  }
}

/** A payment in progress, such as a bank debit, can only be awaited. */
function isUnderWay({ status, payments }: Stripe.Invoice): boolean {
  if (status !== 'open') return false;
  return (payments?.data ?? []).some(({ payment: { payment_intent: intent } }) => {
    return typeof intent === 'object' && intent.status === 'processing';
  });
}

/** It may have been paid, voided or written off between our read and the call. */
const OVER: readonly ExternalStatus[] = ['PAID', 'VOID', 'UNCOLLECTIBLE'];

/** The error on the payment may be of an earlier attempt. */
function reasonOf(after: ExternalInvoice, { message, code }: ProviderProblem): string | null {
  if (OVER.includes(after.status)) return null;
  return after.paymentFailure?.code === code ? after.paymentError : message;
}
