/** Reading contracts. */
import { notFound } from '../../core/errors.ts';
import type { Instant } from '../../core/time.ts';
import { type Contract, findContract, loadContracts } from '../../store/contracts.ts';
import { findCustomer } from '../../store/customers.ts';
import type { Database } from '../../store/database.ts';

interface Deps {
  readonly db: Database;
}

/** The customer's contract, archived or not. Refuses an unknown one and another customer's (`ContractNotFound`). */
export async function getContract(deps: Deps, customerId: string, contractId: string): Promise<Contract> {
  const contract = await findContract(deps.db, contractId);
  if (contract === null || contract.customerId !== customerId) {
    throw notFound('contract', contractId, 'ContractNotFound');
  }
  return contract;
}

export interface ListContractsInput {
  readonly customerId: string;
  readonly includeArchived: boolean;
  /** Only contracts that start at or after this instant. */
  readonly startingAt: Instant | null;
  /** Only contracts in force at this instant. */
  readonly coveringDate: Instant | null;
}

/** The customer's contracts by start. Refuses an unknown customer (`CustomerNotFound`). */
export async function listContracts(deps: Deps, input: ListContractsInput): Promise<Contract[]> {
  const { customerId, includeArchived, startingAt, coveringDate } = input;
  if ((await findCustomer(deps.db, customerId)) === null) {
    throw notFound('customer', customerId, 'CustomerNotFound');
  }
  return loadContracts(deps.db, {
    customerIds: [customerId],
    includeArchived,
    ...(startingAt === null ? {} : { startingFrom: startingAt }),
    ...(coveringDate === null ? {} : { coveringDate }),
  });
}
