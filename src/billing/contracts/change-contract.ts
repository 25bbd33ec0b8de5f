/**
 * The one way to change a contract that exists: lock it, load it whole, compute what it becomes, keep what
 * it was, write the difference. Edits, end dates, usage filters and archiving all come through here.
 */
import { notFound } from '../../core/errors.ts';
import type { Contract, FullContract } from '../../core/terms/contract.ts';
import type { Instant } from '../../core/time.ts';
import { saveContract, withTerms } from '../../store/contract-terms.ts';
import { insertContractVersion } from '../../store/contract-versions.ts';
import { lockContract } from '../../store/contracts.ts';
import type { Transaction } from '../../store/database.ts';

/** Runs in the transaction that changes a contract's dates: queues what the change sets going. */
export type ContractHook = (tx: Transaction, contract: Contract) => Promise<void>;

export interface ContractReference {
  readonly customerId: string;
  readonly contractId: string;
}

/**
 * Replaces the contract by what `change` returns, which may refuse by throwing. Returns the new state.
 * Refuses an unknown contract and another customer's (`ContractNotFound`).
 */
export async function changeContract(
  tx: Transaction,
  { customerId, contractId }: ContractReference,
  now: Instant,
  change: (before: FullContract) => FullContract | Promise<FullContract>,
): Promise<FullContract> {
  const contract = await lockContract(tx, contractId);
  if (contract === null || contract.customerId !== customerId) {
    throw notFound('contract', contractId, 'ContractNotFound');
  }
  const [before = null] = await withTerms(tx, [contract]);
  if (before === null) throw notFound('contract', contractId, 'ContractNotFound');
  const after = await change(before);
  await insertContractVersion(tx, before, now);
  await saveContract(tx, before, after, now);
  return after;
}
