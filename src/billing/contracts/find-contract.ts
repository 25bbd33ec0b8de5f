/** Finds the contract of an operation, and refuses a missing one. */
import { notFound, type Refusal } from '../../core/errors.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { findContract } from '../../store/contracts/contracts.ts';
import { customerExists } from '../../store/customers/customers.ts';

/** The customer's contract, archived or not. Refuses a missing one (see `missingContract`). */
export async function findContractOf(
  db: Database,
  customerId: string,
  contractId: string,
): Promise<Contract> {
  const contract = await findContract(db, contractId);
  if (contract !== null && contract.customerId === customerId) return contract;
  throw await missingContract(db, customerId, contractId);
}

/** `CustomerNotFound` if the customer does not exist, `ContractNotFound` if the customer has no such contract. */
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
