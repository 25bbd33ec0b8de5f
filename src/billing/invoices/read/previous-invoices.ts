/** The invoice that a draft is compared with: the last one of its contract that is finalized. */
import type { Decimal } from '../../../core/decimal.ts';
import type { Invoice } from '../../../core/invoice.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import { type PreviousInvoice, previousFinalized } from '../../../store/invoices/previous-invoices.ts';

export interface ComparedInvoice extends PreviousInvoice {
  /** The amount that the draft bills in addition; negative: less. */
  readonly change: Decimal;
}

/**
 * By draft: the finalized invoice of the same type and currency with the latest period before that of the draft. It is one
 * of the contract, or of the contract that this one renews. Only drafts of usage and consolidated invoices have one.
 */
export async function previousInvoicesOf(
  { db }: { readonly db: Database | Transaction },
  invoices: readonly Invoice[],
): Promise<ReadonlyMap<string, ComparedInvoice>> {
  const drafts = invoices.filter(({ status, type }) => status === 'DRAFT' && type !== 'SCHEDULED');
  const previous = await previousFinalized(db, drafts);
  return new Map(
    drafts.flatMap(({ id, total }) => {
      const found = previous.get(id);
      return found === undefined ? [] : [[id, { ...found, change: total.minus(found.total) }] as const];
    }),
  );
}
