/** Settings of customers for the delivery of their invoices. */
import type { BillableStatus } from '../../core/billing-providers.ts';
import { notFound } from '../../core/errors.ts';
import { leaveInvoicesInDraft, setBillableStatus } from '../../store/customers/customers.ts';
import type { RowContext } from '../billing-context.ts';

/** Refuses an unknown customer (`not_found`). */
export async function setCustomerBillableStatus(
  { db }: Pick<RowContext, 'db'>,
  id: string,
  status: BillableStatus,
): Promise<void> {
  if (!(await setBillableStatus(db, id, status))) throw notFound('customer', id);
}

/**
 * Whether Stripe's invoices of the customer stay drafts; null: the default. Refuses an unknown customer (`not_found`).
 */
export async function setLeavesInvoicesInDraft(
  { db }: Pick<RowContext, 'db'>,
  id: string,
  leaves: boolean | null,
): Promise<void> {
  if (!(await leaveInvoicesInDraft(db, id, leaves))) throw notFound('customer', id);
}
