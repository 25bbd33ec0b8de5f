/** The refusal of operations on a missing contract. */
import { notFound, type Refusal } from '../../core/errors.ts';
import { findCustomer } from '../../store/customers.ts';
import type { Database, Transaction } from '../../store/database.ts';

/** `CustomerNotFound` where there is no such customer, `ContractNotFound` where the customer has no such contract. */
export async function missingContract(
  db: Database | Transaction,
  customerId: string,
  contractId: string,
): Promise<Refusal> {
  if ((await findCustomer(db, customerId)) === null) {
    return notFound('customer', customerId, 'CustomerNotFound');
  }
  return notFound('contract', contractId, 'ContractNotFound');
}
