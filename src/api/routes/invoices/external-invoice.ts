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

export function externalInvoiceToWire(
  from: ExternalInvoice | undefined,
): z.input<typeof externalInvoiceSchema> | null {
  return from === undefined ? null : externalToWire(from);
}

export function externalToWire(from: ExternalInvoice): z.input<typeof externalInvoiceSchema> {
  return {
    billing_provider_type: from.billingProvider,
    ...present('invoice_id', from.externalId),
    ...present('invoice_number', from.number),
    ...present('issued_at_timestamp', formatted(from.issuedAt)),
    external_status: from.status,
    ...present('pdf_url', from.pdfUrl),
    ...present('payment_url', from.paymentUrl),
    ...present('tax', from.tax === null ? null : taxToWire(from.tax)),
    ...present('invoiced_total', from.total),
    ...present('invoiced_sub_total', from.subTotal),
    ...present('billing_provider_error', from.error),
    ...present('amount_paid', from.amountPaid),
    ...present('payment_error', from.paymentError),
    ...present('external_payment_id', from.paymentId),
    ...present('paid_at', formatted(from.paidAt)),
    ...(from.refundDue === true ? { refund_due: true as const } : {}),
  };
}

function taxToWire({ amount, taxableAmount, transactionId }: ExternalTax) {
  return {
    total_tax_amount: amount,
    ...present('total_taxable_amount', taxableAmount),
    ...present('transaction_id', transactionId),
  };
}

function formatted(at: Instant | null): string | null {
  return at === null ? null : formatInstant(at);
}

/** A member that is absent where there is no value. */
function present<Name extends string, Value>(name: Name, value: Value | null): { [name in Name]?: Value } {
  return value === null ? {} : ({ [name]: value } as { [name in Name]: Value });
}
