/** The copies of invoices at billing providers. */
import type { ExternalInvoice } from '../../../core/external-invoice.ts';
import type { Invoice } from '../../../core/invoice.ts';
import { loadExternalInvoices } from '../../../store/invoices/invoice-deliveries.ts';
import type { RowContext } from '../../billing-context.ts';

/** By invoice; drafts, and invoices that go to no provider, are absent. */
export async function externalOfInvoices(
  { db }: Pick<RowContext, 'db'>,
  invoices: readonly Pick<Invoice, 'id' | 'status'>[],
): Promise<Map<string, ExternalInvoice>> {
  const issued = invoices.flatMap(({ id, status }) => (status === 'DRAFT' ? [] : [id]));
  return loadExternalInvoices(db, [...new Set(issued)]);
}
