/**
 * The one way to change a contract that exists: lock it, load it whole, compute what it becomes, and settle
 * the change with all that follows (settle-contract.ts). Edits, end dates, usage filters and archiving all
 * come through here.
 */
import { assert } from '../../core/errors.ts';
import type { Contract, FullContract } from '../../core/terms/contract.ts';
import type { ContractEdit } from '../../core/terms/contract-edits.ts';
import { isEditKeyUsed } from '../../store/contract-edits.ts';
import { withTerms } from '../../store/contract-terms.ts';
import { lockContract } from '../../store/contracts.ts';
import type { Transaction } from '../../store/database.ts';
import { missingContract } from './missing-contract.ts';
import {
  type ChangeOrigin,
  type ContractChange,
  type ContractDeps,
  settleContracts,
  usedKey,
} from './settle-contract.ts';

export interface ContractReference {
  readonly customerId: string;
  readonly contractId: string;
}

/**
 * Replaces the contract by what `change` returns, which may refuse by throwing, and settles it. Returns the
 * entry of the history. Refuses a contract that is not there (see `missingContract`), and what
 * `settleContracts` refuses.
 */
export async function changeContract(
  tx: Transaction,
  deps: Pick<ContractDeps, 'gracePeriodHours'>,
  { customerId, contractId }: ContractReference,
  origin: ChangeOrigin,
  change: (before: FullContract) => ContractChange | Promise<ContractChange>,
): Promise<ContractEdit> {
  const contract = await lockContract(tx, contractId);
  if (contract === null || contract.customerId !== customerId) {
    throw await missingContract(tx, customerId, contractId);
  }
  const { uniquenessKey = null } = origin;
  if (uniquenessKey !== null && (await isEditKeyUsed(tx, uniquenessKey))) throw usedKey();
  const [before] = await withTerms(tx, [contract]);
  assert(before !== undefined, `contract ${contractId} is loaded`);
  const [edit] = await settleContracts(tx, deps, [{ before, ...(await change(before)) }], origin);
  assert(edit !== undefined, `the change of contract ${contractId} is in its history`);
  return edit;
}

/** One call is one transaction; so many contracts are changed within seconds. */
export const CONTRACTS_PER_CALL_MAX = 1_000;

/** Contracts whose terms are in memory at once. */
const CONTRACTS_PER_READ = 100;

/**
 * Does the same to each of several contracts, which this transaction has locked in the order of their
 * starts. Goes through them from the last to the first: what a contract rolls over to has been changed
 * when the rollover follows it.
 */
export async function changeLockedContracts(
  tx: Transaction,
  deps: Pick<ContractDeps, 'gracePeriodHours'>,
  contracts: readonly Contract[],
  origin: Pick<ChangeOrigin, 'now' | 'changedBy'>,
  change: (before: FullContract) => ContractChange,
): Promise<void> {
  for (let end = contracts.length; end > 0; end -= CONTRACTS_PER_READ) {
    const states = await withTerms(tx, contracts.slice(Math.max(0, end - CONTRACTS_PER_READ), end));
    const changes = states.map((before) => ({ before, ...change(before) }));
    await settleContracts(tx, deps, changes, origin);
  }
}
