/** Messages of invoices. */

import type { ExternalInvoice } from '../core/external-invoice.ts';
import type { Invoice } from '../core/invoice.ts';
import { formatInstant, type Instant } from '../core/time.ts';
import type { Transaction } from '../store/base/database.ts';
import { publish } from './outbox.ts';

const FINALIZED = 'invoice.finalized';

/** Publishes invoices that this transaction issues; others are skipped. */
export async function publishFinalized(
  tx: Transaction,
  invoices: readonly Pick<Invoice, 'id' | 'customerId' | 'issuedAt' | 'status'>[],
): Promise<void> {
  const finalized = invoices.filter(({ status }) => status === 'FINALIZED');
  if (finalized.length === 0) return;
  await publish(tx, [FINALIZED], async () =>
    finalized.map(({ id, customerId, issuedAt }) => ({
      type: FINALIZED,
      customerId,
      content: {
        properties: {
          invoice_id: id,
          customer_id: customerId,
          invoice_finalized_date: formatInstant(issuedAt),
        },
      },
    })),
  );
}

const PROVIDER_ERROR = 'invoice.billing_provider_error';
const STATUS_CHANGED = 'invoice.external_status_changed';

interface ExternalChange {
  readonly invoiceId: string;
  readonly customerId: string;
  readonly external: ExternalInvoice;
}

/** Publishes that a billing provider has refused an invoice. */
export function publishProviderError(tx: Transaction, change: ExternalChange, now: Instant): Promise<void> {
  return publishExternal(tx, PROVIDER_ERROR, change, now, {
    billing_provider_error: change.external.error,
  });
}

/** Publishes that an invoice has another status at its billing provider. */
export function publishExternalStatus(tx: Transaction, change: ExternalChange, now: Instant): Promise<void> {
  return publishExternal(tx, STATUS_CHANGED, change, now, {});
}

function publishExternal(
  tx: Transaction,
  type: typeof PROVIDER_ERROR | typeof STATUS_CHANGED,
  { invoiceId, customerId, external }: ExternalChange,
  now: Instant,
  more: Readonly<Record<string, unknown>>,
): Promise<void> {
  return publish(tx, [type], async () => [
    {
      type,
      customerId,
      content: {
        properties: {
          invoice_id: invoiceId,
          customer_id: customerId,
          billing_provider: external.billingProvider,
          timestamp: formatInstant(now),
          ...more,
          external_invoice: messageOf(external),
        },
      },
    },
  ]);
}

/** The external invoice in the form of the API. */
function messageOf(external: ExternalInvoice): Readonly<Record<string, unknown>> {
  const { tax } = external;
  const members = {
    billing_provider_type: external.billingProvider,
    external_status: external.status,
    invoice_id: external.externalId,
    invoice_number: external.number,
    issued_at_timestamp: external.issuedAt === null ? null : formatInstant(external.issuedAt),
    paid_at: external.paidAt === null ? null : formatInstant(external.paidAt),
    pdf_url: external.pdfUrl,
    payment_url: external.paymentUrl,
    invoiced_sub_total: external.subTotal,
    invoiced_total: external.total,
    tax:
      tax &&
      known({
        total_tax_amount: tax.amount,
        total_taxable_amount: tax.taxableAmount,
        transaction_id: tax.transactionId,
      }),
    amount_paid: external.amountPaid,
    payment_error: external.paymentError,
    external_payment_id: external.paymentId,
    billing_provider_error: external.error,
  };
  return known(members);
}

/** Drops unknown members. */
function known(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}
