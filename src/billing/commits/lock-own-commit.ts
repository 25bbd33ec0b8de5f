/**
 * Locks a commit or credit of a customer for a change, in the order common to all transactions (settle-contract.ts).
 */
import type { Commit } from '../../core/terms/commits.ts';
import type { Contract } from '../../core/terms/contract.ts';
import { lockCommit } from '../../store/balances/commits.ts';
import type { Transaction } from '../../store/base/database.ts';
import { lockBalances } from '../../store/invoices/balance-deductions.ts';
import { lockInvoiceContracts } from './invoice-contract.ts';

interface LockedCommit {
  /** The current state. */
  readonly commit: Commit;
  /** The contract that invoices it, and `contractIds`. */
  readonly contracts: readonly Contract[];
}

/**
 * Locks the contracts, which prevents their invoices from being issued, then the balances of the customer, so that an
 * invoice that draws on the commit is issued before, or recomputed after the change; then the commit.
 *
 * `read`: the commit as it was read. Null: it has been moved to a contract that is not locked, so the transaction has
 * to be retried. Refuses (`not_found`) a contract that is not the customer's.
 */
export async function lockOwnCommit(
  tx: Transaction,
  read: Commit,
  contractIds: readonly string[] = [],
): Promise<LockedCommit | null> {
  const { id, customerId, invoiceContractId } = read;
  const ids = new Set([invoiceContractId, ...contractIds].flatMap((one) => one ?? []));
  const contracts = await lockInvoiceContracts(tx, customerId, [...ids]);
  await lockBalances(tx, [customerId]);
  const commit = await lockCommit(tx, id);
  const isMoved = commit?.invoiceContractId != null && !ids.has(commit.invoiceContractId);
  return commit === null || isMoved ? null : { commit, contracts };
}
