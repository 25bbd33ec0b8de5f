/** The refusal of operations on a missing contract. */
import { notFound, type Refusal } from '../../core/errors.ts';
import { customerExists } from '../../store/customers.ts';
import type { Database, Transaction } from '../../store/database.ts';

/** `CustomerNotFound` where there is no such customer, `ContractNotFound` where the customer has no such contract. */
export async function missingContract(
  db: Database | Transaction,
  customerId: string,
  contractId: string,
): Promise<Refusal> {
  if (!(await customerExists(db, customerId))) {
    return notFound('customer', customerId, 'CustomerNotFound');
  }
  return notFound('contract', contractId, 'ContractNotFound');
}
