/**
 * Archiving a customer (docs/contracts.md, "Archiving"): with all contracts, for good, in one transaction.
 *
 * Locks in this order: the customer, then the contracts by their starts. Who makes a contract holds the customer
 * before anything else; who changes a contract never locks a customer.
 */
import { invalid, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { findCustomer, lockCustomer, updateCustomer } from '../../store/customers.ts';
import { voidInvoicesOfCustomer } from '../../store/voided-invoices.ts';
import { archiveContractsOf } from '../contracts/archive-contracts.ts';
import type { ContractDeps } from '../contracts/settle-contract.ts';

/**
 * Archives the customer and its contracts as of now and voids all its finalized invoices (`behaviour/12`,
 * "Customers"). Its ingest aliases stay its own and its usage is still counted. Refuses an unknown customer
 * (`CustomerNotFound`), one that is archived already, and one with more contracts than one call may change
 * (`invalid`).
 */
export async function archiveCustomer(
  deps: ContractDeps,
  customerId: string,
  archivedBy: string,
): Promise<void> {
  const now = deps.clock.now();
  await deps.db.transaction(async (tx) => {
    const isKnown = isUuid(customerId) && (await lockCustomer(tx, customerId));
    const customer = isKnown ? await findCustomer(tx, customerId) : null;
    if (customer === null) throw notFound('customer', customerId, 'CustomerNotFound');
    if (customer.archivedAt !== null)
      throw invalid(['customerId'], `customer ${customerId} is archived already`);
    await archiveContractsOf(tx, deps, customerId, { now, changedBy: archivedBy });
    await voidInvoicesOfCustomer(tx, customerId);
    await updateCustomer(tx, customerId, { archivedAt: now, updatedAt: now });
  });
}
