/**
 * The one way to change a contract that exists: lock it, load it whole, compute what it becomes, keep what
 * it was, write the difference, and add the change to its history. Edits, end dates, usage filters,
 * renewals and archiving all come through here.
 */
import { assert, conflict } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { Contract, FullContract } from '../../core/terms/contract.ts';
import { type ContractChanges, type ContractEdit, NO_CHANGES } from '../../core/terms/contract-edits.ts';
import type { Instant } from '../../core/time.ts';
import { insertContractEdit, insertContractEdits, isEditKeyUsed } from '../../store/contract-edits.ts';
import { saveContract, withTerms } from '../../store/contract-terms.ts';
import { insertContractVersions } from '../../store/contract-versions.ts';
import { lockContract } from '../../store/contracts.ts';
import type { Transaction } from '../../store/database.ts';
import { missingContract } from './missing-contract.ts';

/** Runs in the transaction that changes a contract's dates: queues what the change sets going. */
export type ContractHook = (tx: Transaction, contract: Contract) => Promise<void>;

export interface ContractReference {
  readonly customerId: string;
  readonly contractId: string;
}

export interface ChangeOrigin {
  readonly now: Instant;
  readonly changedBy: string;
  /** Of an edit, in the key space of edits. */
  readonly uniquenessKey?: string | null;
  /** Makes the change an amendment; see `ContractEdit`. */
  readonly amendmentStartingAt?: Instant;
}

export interface ContractChange {
  readonly after: FullContract;
  /** What the history tells of it; what is left out has not been touched. */
  readonly changes: Partial<ContractChanges>;
}

/**
 * Replaces the contract by what `change` returns, which may refuse by throwing. Returns the new state and
 * the entry of the history. Refuses a contract that is not there (see `missingContract`), and a uniqueness
 * key that an edit has used before (`conflict`).
 */
export async function changeContract(
  tx: Transaction,
  { customerId, contractId }: ContractReference,
  origin: ChangeOrigin,
  change: (before: FullContract) => ContractChange | Promise<ContractChange>,
): Promise<{ readonly changed: FullContract; readonly edit: ContractEdit }> {
  const { now, changedBy, uniquenessKey = null, amendmentStartingAt = null } = origin;
  const contract = await lockContract(tx, contractId);
  if (contract === null || contract.customerId !== customerId) {
    throw await missingContract(tx, customerId, contractId);
  }
  if (uniquenessKey !== null && (await isEditKeyUsed(tx, uniquenessKey))) throw usedKey();
  const [before] = await withTerms(tx, [contract]);
  assert(before !== undefined, `contract ${contractId} is loaded`);
  const { after, changes } = await change(before);
  await insertContractVersions(tx, [before], now);
  await saveContract(tx, before, after, now);
  const edit: ContractEdit = {
    id: newId(),
    contractId: contract.id,
    timestamp: now,
    uniquenessKey,
    amendmentStartingAt,
    createdBy: changedBy,
    changes: { ...NO_CHANGES, ...changes },
  };
  // Two edits of different contracts may have the same key: only the insertion decides between them.
  if (!(await insertContractEdit(tx, edit))) throw usedKey();
  return { changed: after, edit };
}

/** One call is one transaction; so many contracts are changed within seconds. */
export const CONTRACTS_PER_CALL_MAX = 1_000;

/** Contracts whose terms are in memory at once. */
const CONTRACTS_PER_READ = 100;

/** Does the same to each of several contracts, which this transaction has locked. */
export async function changeLockedContracts(
  tx: Transaction,
  contracts: readonly Contract[],
  { now, changedBy }: Pick<ChangeOrigin, 'now' | 'changedBy'>,
  change: (before: FullContract) => ContractChange,
): Promise<void> {
  for (let from = 0; from < contracts.length; from += CONTRACTS_PER_READ) {
    const states = await withTerms(tx, contracts.slice(from, from + CONTRACTS_PER_READ));
    await insertContractVersions(tx, states, now);
    const edits = [];
    for (const before of states) {
      const { after, changes } = change(before);
      await saveContract(tx, before, after, now);
      edits.push({
        id: newId(),
        contractId: before.contract.id,
        timestamp: now,
        uniquenessKey: null,
        amendmentStartingAt: null,
        createdBy: changedBy,
        changes: { ...NO_CHANGES, ...changes },
      });
    }
    await insertContractEdits(tx, edits);
  }
}

function usedKey(): Error {
  return conflict('This uniqueness key has already been used.');
}
