/**
 * The one way to change a contract that exists: lock it, load it whole, compute what it becomes, keep what
 * it was, write the difference, and add the change to its history. Edits, end dates, usage filters,
 * renewals and archiving all come through here.
 */
import { conflict, notFound } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { Contract, FullContract } from '../../core/terms/contract.ts';
import { type ContractChanges, type ContractEdit, NO_CHANGES } from '../../core/terms/contract-edits.ts';
import type { Instant } from '../../core/time.ts';
import { insertContractEdit, isEditKeyUsed } from '../../store/contract-edits.ts';
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
 * the entry of the history. Refuses an unknown contract and another customer's (`ContractNotFound`), and a
 * uniqueness key that an edit has used before (`conflict`).
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
    throw notFound('contract', contractId, 'ContractNotFound');
  }
  if (uniquenessKey !== null && (await isEditKeyUsed(tx, uniquenessKey))) throw usedKey();
  const [before = null] = await withTerms(tx, [contract]);
  if (before === null) throw notFound('contract', contractId, 'ContractNotFound');
  const { after, changes } = await change(before);
  await insertContractVersion(tx, before, now);
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

function usedKey(): Error {
  return conflict('This uniqueness key has already been used.');
}
