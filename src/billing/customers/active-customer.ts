/** The check that new terms and contracts begin with. */
import { invalid, notFound } from '../../core/errors.ts';
import type { Transaction } from '../../store/base/database.ts';
import { holdCustomer } from '../../store/customers/customers.ts';

/**
 * Refuses an unknown customer (`CustomerNotFound`) and an archived one (`invalid`). Locks the customer: archiving it
 * either waits and sees the additions of this transaction, or precedes it.
 */
export async function requireActiveCustomer(tx: Transaction, customerId: string): Promise<void> {
  const customer = await holdCustomer(tx, customerId);
  if (customer === null) throw notFound('customer', customerId, 'CustomerNotFound');
  if (customer.archivedAt !== null) throw invalid(['customerId'], `customer ${customerId} is archived`);
}
