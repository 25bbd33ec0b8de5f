/** Reading the edit history of a contract. */
import type { Contract } from '../../core/terms/contract.ts';
import { addedTerms, type ContractEdit } from '../../core/terms/contract-edits.ts';
import type { Instant } from '../../core/time.ts';
import { loadContractEdits } from '../../store/contracts/contract-edits.ts';
import { findRateCard } from '../../store/rate-cards/rate-cards.ts';
import type { RowContext } from '../billing-context.ts';
import type { ContractReference } from '../contracts/change-contract.ts';
import { findContractOf } from '../contracts/find-contract.ts';
import { loadNames, type TermNames } from '../contracts/term-names.ts';

/** Edits with all objects that their terms refer to. */
export interface EditHistory {
  readonly edits: readonly ContractEdit[];
  /** The current state. */
  readonly contract: Contract;
  readonly names: TermNames;
  /** The currency of its rate card. */
  readonly fiatCreditTypeId: string | null;
  readonly now: Instant;
}

/** Every change, in order. Refuses a missing contract (see `findContractOf`). */
export async function getEditHistory(
  context: RowContext,
  { customerId, contractId }: ContractReference,
): Promise<EditHistory> {
  const contract = await findContractOf(context.db, customerId, contractId);
  return historyOf(context, contract, await loadContractEdits(context.db, contractId));
}

/** One edit, for the answer to the request that submitted it. */
export async function viewEdit(
  context: RowContext,
  customerId: string,
  edit: ContractEdit,
): Promise<EditHistory> {
  return historyOf(context, await findContractOf(context.db, customerId, edit.contractId), [edit]);
}

async function historyOf(
  { db, clock }: RowContext,
  contract: Contract,
  edits: readonly ContractEdit[],
): Promise<EditHistory> {
  const card = contract.rateCardId === null ? null : await findRateCard(db, contract.rateCardId);
  const now = clock.now();
  return {
    edits,
    contract,
    names: await loadNames(
      db,
      edits.map(({ changes }) => ({ contract, terms: addedTerms(changes) })),
      now,
    ),
    fiatCreditTypeId: card?.fiatCreditTypeId ?? null,
    now,
  };
}
