/**
 * Edits a contract (docs/explanation/contracts.md, "Edits") in one transaction under the contract's lock. Any refusal
 * rolls back the whole edit.
 */
import type { FullContract } from '../../../core/terms/contract.ts';
import type { ContractEdit } from '../../../core/terms/contract-edits.ts';
import type { Transaction } from '../../../store/base/database.ts';
import type { BillingContext } from '../../billing-context.ts';
import { type ContractReference, changeContract } from '../change-contract.ts';
import { requireNotArchived } from '../contract-changes.ts';
import { refuseLateUpdates } from '../follow-renewal.ts';
import type { ContractChange } from '../settle-contract.ts';
import { applyEdit, type ContractEditInput, type EditOrigin } from './apply-edit.ts';
import { refuseTakenShares } from './drawn-shares.ts';
import { refuseInvoicedChanges } from './invoiced-terms.ts';

export interface EditContractInput extends ContractReference {
  readonly edit: ContractEditInput;
  readonly uniquenessKey: string | null;
  readonly editedBy: string;
}

/**
 * Makes all changes of the edit or none, and returns its record. Refuses an unknown contract (`ContractNotFound`), an
 * archived one and the first invalid field (`invalid`), a uniqueness key that an edit has used before and the value of
 * a custom field of another object (`conflict`).
 */
export async function editContract(context: BillingContext, input: EditContractInput): Promise<ContractEdit> {
  return context.db.transaction((tx) => editContractIn(tx, context, input));
}

/** `editContract` within a transaction. */
export async function editContractIn(
  tx: Transaction,
  context: Omit<BillingContext, 'db'>,
  input: EditContractInput,
): Promise<ContractEdit> {
  const now = context.clock.now();
  const { edit: changes, uniquenessKey, editedBy } = input;
  const origin = { now, changedBy: editedBy, uniquenessKey };
  return changeContract(tx, context, input, origin, async (full) => {
    requireNotArchived(full);
    const { paymentProvider, seatsMax } = context;
    const edit = { additionsAt: ['additions'], editedBy, now, paymentProvider, seatsMax };
    return checkedEdit(tx, full, changes, edit);
  });
}

/** `applyEdit` with the checks of invoiced or rolled over terms, whose changes are refused (`invalid`). */
export async function checkedEdit(
  tx: Transaction,
  full: FullContract,
  changes: ContractEditInput,
  origin: EditOrigin,
): Promise<ContractChange> {
  await refuseLateUpdates(tx, full, changes.updates, origin.now);
  const change = await applyEdit(tx, full, changes, origin);
  const { contract, terms } = change.after;
  await refuseInvoicedChanges(tx, full.terms, terms, {
    contract: full.contract,
    contractEnd: contract.endingBefore,
  });
  await refuseTakenShares(tx, full, change.after, changes.updates);
  return change;
}
