/**
 * Editing a contract (docs/contracts.md, "Edits"): one transaction under the contract's lock, in which the
 * contract is loaded, changed as a plain value, and stored together with the record of the edit.
 */
import type { Clock } from '../../core/clock.ts';
import type { FullContract } from '../../core/terms/contract.ts';
import type { ContractEdit } from '../../core/terms/contract-edits.ts';
import type { Instant } from '../../core/time.ts';
import { isEditKeyUsed } from '../../store/contract-edits.ts';
import type { Database, Transaction } from '../../store/database.ts';
import { type ContractHook, type ContractReference, changeContract } from '../contracts/change-contract.ts';
import { requireNotArchived } from '../contracts/contract-changes.ts';
import { type AppliedEdit, applyEdit, type ContractEditInput } from './apply-edit.ts';
import { recordEdit, usedKey } from './record-edit.ts';

export interface EditDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** Runs in the same transaction where the contract's end has moved. */
  readonly onEndChanged: ContractHook;
}

export interface EditContractInput extends ContractReference {
  readonly edit: ContractEditInput;
  readonly uniquenessKey: string | null;
  readonly editedBy: string;
}

/**
 * Makes all changes of the edit or none, and returns its record. Refuses an unknown contract
 * (`ContractNotFound`), an archived one and the first bad field (`invalid`), and a uniqueness key that an
 * edit has used before (`conflict`).
 */
export async function editContract(deps: EditDeps, input: EditContractInput): Promise<ContractEdit> {
  return changeAndRecord(deps, input, (tx, full, now) =>
    applyEdit(tx, full, input.edit, { prefix: 'add_', editedBy: input.editedBy, now }),
  );
}

export interface RecordedChange extends ContractReference {
  readonly uniquenessKey: string | null;
  readonly amendmentStartingAt?: Instant;
  readonly editedBy: string;
}

/** The transaction behind edits and amendments: whatever `apply` throws, nothing is stored. */
export async function changeAndRecord(
  deps: EditDeps,
  input: RecordedChange,
  apply: (tx: Transaction, full: FullContract, now: Instant) => Promise<AppliedEdit>,
): Promise<ContractEdit> {
  const now = deps.clock.now();
  const { uniquenessKey, amendmentStartingAt, editedBy } = input;
  return deps.db.transaction(async (tx) => {
    let changes: AppliedEdit['changes'] = {};
    const { contract } = await changeContract(tx, input, now, async (full) => {
      requireNotArchived(full);
      if (uniquenessKey !== null && (await isEditKeyUsed(tx, uniquenessKey))) throw usedKey();
      const applied = await apply(tx, full, now);
      changes = applied.changes;
      return applied.after;
    });
    const edit = await recordEdit(tx, {
      contractId: contract.id,
      timestamp: now,
      uniquenessKey,
      ...(amendmentStartingAt === undefined ? {} : { amendmentStartingAt }),
      createdBy: editedBy,
      changes,
    });
    if (changes.endingBefore !== undefined) await deps.onEndChanged(tx, contract);
    return edit;
  });
}
