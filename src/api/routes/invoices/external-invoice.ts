/** The copy of an invoice at a billing provider, on the wire. */
import { z } from 'zod';
import { BILLING_PROVIDERS } from '../../../core/billing-providers.ts';
import { EXTERNAL_STATUSES, type ExternalInvoice, type ExternalTax } from '../../../core/external-invoice.ts';
import { formatInstant, type Instant } from '../../../core/time.ts';
import { exactValue, timestamp } from '../../wire/fields.ts';

/** Members that are not known are absent. Amounts are in the unit of the invoice. */
export const externalInvoiceSchema = z
  .object({
    billing_provider_type: z.enum(BILLING_PROVIDERS),
    invoice_id: z.string().optional().meta({ description: 'Its id at the provider.' }),
    invoice_number: z.string().optional().meta({ description: 'Its number at the provider.' }),
    issued_at_timestamp: timestamp.optional(),
    external_status: z.enum(EXTERNAL_STATUSES).optional(),
    pdf_url: z.string().optional(),
    payment_url: z
      .string()
      .optional()
      .meta({ description: 'The page on which the customer can pay the invoice.' }),
    tax: z
      .object({
        total_tax_amount: exactValue.optional(),
        total_taxable_amount: exactValue.optional(),
        transaction_id: z.string().optional(),
      })
      .optional(),
    invoiced_total: exactValue.optional(),
    invoiced_sub_total: exactValue.optional(),
    billing_provider_error: z.string().optional(),
    amount_paid: exactValue.optional().meta({
      description: 'The amount that was paid, by money or by credit of the customer at the provider.',
    }),
    payment_error: z.string().optional().meta({ description: 'Why the last payment failed.' }),
    external_payment_id: z.string().optional(),
    paid_at: timestamp.optional(),
    refund_due: z.literal(true).optional().meta({
      description:
        'True if the invoice is voided here and was paid at the provider. Report its refund with `POST /v1/invoices/refunded`.',
    }),
  })
  .meta({ id: 'ExternalInvoice' });

export function externalToWire(from: ExternalInvoice): z.input<typeof externalInvoiceSchema> {
  return {
    billing_provider_type: from.billingProvider,
    invoice_id: from.externalId ?? undefined,
    invoice_number: from.number ?? undefined,
    issued_at_timestamp: formatted(from.issuedAt),
    external_status: from.status,
    pdf_url: from.pdfUrl ?? undefined,
    payment_url: from.paymentUrl ?? undefined,
    tax: from.tax === null ? undefined : taxToWire(from.tax),
    invoiced_total: from.total ?? undefined,
    invoiced_sub_total: from.subTotal ?? undefined,
    billing_provider_error: from.error ?? undefined,
    amount_paid: from.amountPaid ?? undefined,
    payment_error: from.paymentError ?? undefined,
    external_payment_id: from.paymentId ?? undefined,
    paid_at: formatted(from.paidAt),
    refund_due: from.refundDue || undefined,
  };
}

function taxToWire({ amount, taxableAmount, transactionId }: ExternalTax) {
  return {
    total_tax_amount: amount,
    total_taxable_amount: taxableAmount ?? undefined,
    transaction_id: transactionId ?? undefined,
  };
}

function formatted(at: Instant | null): string | undefined {
  return at === null ? undefined : formatInstant(at);
}
