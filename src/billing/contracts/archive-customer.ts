/**
 * Archives a customer with all contracts in one transaction (docs/explanation/contracts.md, "Archiving"). It cannot be
 * undone.
 *
 * Lock order: the customer, then the contracts by their starts. Creating a contract locks the customer first;
 * changing a contract never locks a customer.
 */
import { invalid, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { findCustomer, lockCustomer, updateCustomer } from '../../store/customers/customers.ts';
import { voidInvoicesOfCustomer } from '../../store/invoices/voided-invoices.ts';
import type { BillingContext } from '../billing-context.ts';
import { archiveContractsOf } from './archive-contracts.ts';

/**
 * Archives the customer and its contracts now and voids all its finalized invoices. It keeps its ingest
 * aliases, and its usage is still counted. Refuses an unknown customer (`CustomerNotFound`), an archived one,
 * and one with more contracts than one call may change (`invalid`).
 */
export async function archiveCustomer(
  context: BillingContext,
  customerId: string,
  archivedBy: string,
): Promise<void> {
  const now = context.clock.now();
  const voided = await context.db.transaction(async (tx) => {
    const isKnown = isUuid(customerId) && (await lockCustomer(tx, customerId));
    const customer = isKnown ? await findCustomer(tx, customerId) : null;
    if (customer === null) throw notFound('customer', customerId, 'CustomerNotFound');
    if (customer.archivedAt !== null)
      throw invalid(['customerId'], `customer ${customerId} is already archived`);
    await archiveContractsOf(tx, context, customerId, { now, changedBy: archivedBy });
    const invoices = await voidInvoicesOfCustomer(tx, customerId, now);
    await updateCustomer(tx, customerId, { archivedAt: now, updatedAt: now });
    return invoices;
  });
  for (const invoice of voided) context.invoiceLog.voided(invoice);
}
