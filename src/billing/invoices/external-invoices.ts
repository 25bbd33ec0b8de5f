/** The copies of invoices at billing providers. */
import type { ExternalInvoice } from '../../core/external-invoice.ts';
import type { Invoice } from '../../core/invoice.ts';
import type { Database } from '../../store/base/database.ts';
import { loadExternalInvoices } from '../../store/invoices/invoice-deliveries.ts';

/** By invoice; drafts, and invoices that go to no provider, are absent. */
export async function externalOfInvoices(
  { db }: { readonly db: Database },
  invoices: readonly Pick<Invoice, 'id' | 'status'>[],
): Promise<Map<string, ExternalInvoice>> {
  const issued = invoices.flatMap(({ id, status }) => (status === 'DRAFT' ? [] : [id]));
  return loadExternalInvoices(db, [...new Set(issued)]);
}
