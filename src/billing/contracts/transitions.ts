/** Renewals: a new contract takes the place of an older one (docs/contracts.md, "Transitions"). */
import { assert, invalid, notFound } from '../../core/errors.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { Contract, TransitionInput } from '../../core/terms/contract.ts';
import type { Instant } from '../../core/time.ts';
import { insertCommits } from '../../store/commits.ts';
import { withTerms } from '../../store/contract-terms.ts';
import { insertTransition } from '../../store/contract-transitions.ts';
import { lockContract } from '../../store/contracts.ts';
import type { Transaction } from '../../store/database.ts';
import { rolloversOf, withRolledSegments } from '../balances/rollovers.ts';
import { loadWithheld } from '../balances/withheld.ts';
import { changeContract } from './change-contract.ts';
import { withEndDate } from './terms/truncate-terms.ts';

export interface RenewedContract {
  /** The older contract as it is now. */
  readonly from: Contract;
  /** What it has rolled over to the newer one. */
  readonly rollovers: readonly Commit[];
}

/**
 * Links a stored new contract to the one it renews, which ends where the new one starts, and stores what
 * rolls over. Refuses (`invalid`) one that is archived, renewed before, or starts no earlier.
 */
export async function renewContract(
  tx: Transaction,
  contract: Contract,
  { fromContractId, rollsOver, trueup }: TransitionInput,
  now: Instant,
): Promise<RenewedContract> {
  const field = ['transition', 'fromContractId'];
  const from = await lockContract(tx, fromContractId);
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
  const rollovers = rollsOver ? await rollOver(tx, from, contract) : [];
  const { startingAt } = contract;
  if (from.endingBefore !== null && from.endingBefore <= startingAt) return { from, rollovers };
  const reference = { customerId: from.customerId, contractId: from.id };
  const origin = { now, changedBy: contract.createdBy };
  const { changed } = await changeContract(tx, reference, origin, (full) => ({
    after: withRolledSegments(withEndDate(full, startingAt, now), full, rollovers),
    changes: { endingBefore: startingAt },
  }));
  return { from: changed.contract, rollovers };
}

/** `from` is locked: nothing of it changes before the end of the transaction. */
async function rollOver(tx: Transaction, from: Contract, contract: Contract): Promise<Commit[]> {
  const [full] = await withTerms(tx, [from]);
  assert(full !== undefined, `contract ${from.id} has terms`);
  const rollovers = rolloversOf(full, contract, await loadWithheld(tx, full.terms.commits));
  await insertCommits(tx, rollovers);
  return rollovers;
}
