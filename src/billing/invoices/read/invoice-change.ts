/** The change of an invoice against the one before it, by product and reason (docs/explanation/invoices.md, "Months"). */
import { resultInChunks } from '../../../core/in-chunks.ts';
import type { Invoice } from '../../../core/invoice.ts';
import { type InvoiceChange, invoiceChange } from '../../../rating/invoices/change-reasons.ts';
import { previousFinalized } from '../../../store/invoices/previous-invoices.ts';
import { findInvoice } from '../../../store/invoices/whole-invoices.ts';
import type { BillingContext } from '../../billing-context.ts';
import { getBilledInvoice } from './read-invoices.ts';

export interface ChangedInvoice {
  readonly invoice: Invoice;
  /**
   * The finalized invoice of the same type and currency with the latest period before, of the contract or of the one that
   * it renews. Null: there is none, or the invoice is a scheduled one.
   */
  readonly compared: { readonly former: Invoice; readonly change: InvoiceChange } | null;
}

/** Refuses an unknown invoice (`not_found`). */
export async function readInvoiceChange(
  context: BillingContext,
  customerId: string,
  invoiceId: string,
): Promise<ChangedInvoice> {
  const invoice = await getBilledInvoice(context, customerId, invoiceId);
  const previous = (await previousFinalized(context.db, [invoice])).get(invoice.id);
  const former = previous === undefined ? null : await findInvoice(context.db, customerId, previous.id);
  if (former === null) return { invoice, compared: null };
  return { invoice, compared: { former, change: await resultInChunks(invoiceChange(invoice, former)) } };
}
