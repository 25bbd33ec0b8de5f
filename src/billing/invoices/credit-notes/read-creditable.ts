/** Reads what each line of an issued invoice still has for credit notes. */
import { notFound } from '../../../core/errors.ts';
import { type CreditBook, openBook } from '../../../rating/credit-notes/credit-book.ts';
import { inSnapshot } from '../../../store/base/database.ts';
import { standingNotes } from '../../../store/invoices/credit-notes.ts';
import type { BillingContext } from '../../billing-context.ts';
import { requireIssued } from '../issued/issued-invoice.ts';
import { findCreditable, notFinalized } from './creditable-invoice.ts';

/** Refuses an unknown invoice (`not_found`), and (`invalid`) one that no credit note can take back. */
export async function readCreditable(
  context: BillingContext,
  customerId: string,
  invoiceId: string,
): Promise<CreditBook> {
  const head = await requireIssued(context, invoiceId, (state) => notFinalized(invoiceId, state));
  if (head.customerId !== customerId) throw notFound('invoice', invoiceId);
  return inSnapshot(context.db, async (tx) => {
    const invoice = await findCreditable(tx, invoiceId);
    const notes = await standingNotes(tx, invoiceId);
    return openBook(
      invoice,
      notes.flatMap(({ lines }) => lines),
    );
  });
}
