/**
 * Editing a contract (docs/contracts.md, "Edits"): one transaction under the contract's lock, in which
 * whatever is refused undoes everything.
 */
import type { Clock } from '../../../core/clock.ts';
import { addedTerms, type ContractEdit } from '../../../core/terms/contract-edits.ts';
import type { Database } from '../../../store/database.ts';
import { fieldsOfTerms } from '../../custom-fields/fields-of-terms.ts';
import { storeCustomFields } from '../../custom-fields/store-fields.ts';
import { type ContractHook, type ContractReference, changeContract } from '../change-contract.ts';
import { requireNotArchived } from '../contract-changes.ts';
import { followRenewal, refuseLateUpdates } from '../follow-renewal.ts';
import { applyEdit, type ContractEditInput } from './apply-edit.ts';

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
 * (`ContractNotFound`), an archived one and the first bad field (`invalid`), a uniqueness key that an edit
 * has used before and the value of a custom field that another object holds (`conflict`).
 */
export async function editContract(deps: EditDeps, input: EditContractInput): Promise<ContractEdit> {
  const now = deps.clock.now();
  const { edit: changes, uniquenessKey, editedBy } = input;
  return deps.db.transaction(async (tx) => {
    const origin = { now, changedBy: editedBy, uniquenessKey };
    const { changed, edit } = await changeContract(tx, input, origin, async (full) => {
      requireNotArchived(full);
      await refuseLateUpdates(tx, full, changes.updates, origin);
      return applyEdit(tx, full, changes, { additionsAt: ['additions'], editedBy, now });
    });
    await storeCustomFields(tx, fieldsOfTerms(changes.additions, addedTerms(edit.changes), ['additions']));
    await followRenewal(tx, changed, origin);
    if (changes.header.endingBefore !== undefined) await deps.onEndChanged(tx, changed.contract);
    return edit;
  });
}
