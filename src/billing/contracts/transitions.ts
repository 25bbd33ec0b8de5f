/** Renewals: a new contract takes the place of an older one (docs/contracts.md, "Transitions"). */
import { invalid, notFound } from '../../core/errors.ts';
import type { Contract, TransitionInput } from '../../core/terms/contract.ts';
import type { Instant } from '../../core/time.ts';
import { insertTransition } from '../../store/contract-transitions.ts';
import { findContract } from '../../store/contracts.ts';
import type { Transaction } from '../../store/database.ts';
import { changeContract } from './change-contract.ts';
import { withEndDate } from './truncate-terms.ts';

/**
 * Links a stored new contract to the one it renews, which ends where the new one starts. Returns the older
 * contract as it is now. Refuses (`invalid`) one that is archived, renewed before, or starts no earlier.
 */
export async function renewContract(
  tx: Transaction,
  contract: Contract,
  { fromContractId, rollsOver, trueup }: TransitionInput,
  now: Instant,
): Promise<Contract> {
  const field = 'transition.from_contract_id';
  const from = await findContract(tx, fromContractId);
  if (from === null || from.customerId !== contract.customerId) {
    throw notFound('contract', fromContractId, 'ContractNotFound');
  }
  if (from.archivedAt !== null) throw invalid(field, `contract ${from.id} is archived`);
  if (from.startingAt >= contract.startingAt) {
    throw invalid(field, `contract ${from.id} does not start before the contract that renews it`);
  }
  const transition = { fromContractId: from.id, toContractId: contract.id, rollsOver, trueup };
  if (!(await insertTransition(tx, transition))) {
    throw invalid(field, `contract ${from.id} has been renewed already`);
  }
  const { startingAt } = contract;
  if (from.endingBefore !== null && from.endingBefore <= startingAt) return from;
  const reference = { customerId: from.customerId, contractId: from.id };
  const origin = { now, changedBy: contract.createdBy };
  const { changed } = await changeContract(tx, reference, origin, (full) => {
    return { after: withEndDate(full, startingAt, now), changes: { endingBefore: startingAt } };
  });
  return changed.contract;
}
