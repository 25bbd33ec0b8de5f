/** Writing the edit history of a contract (docs/contracts.md, "Edits"). */
import { conflict } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { type ContractChanges, type ContractEdit, NO_CHANGES } from '../../core/terms/contract-edits.ts';
import type { Instant } from '../../core/time.ts';
import { insertContractEdit } from '../../store/contract-edits.ts';
import type { Transaction } from '../../store/database.ts';

export interface RecordEditInput {
  readonly contractId: string;
  readonly timestamp: Instant;
  readonly uniquenessKey?: string | null;
  readonly amendmentStartingAt?: Instant;
  /** Null: a change that another operation brought with it. */
  readonly createdBy: string | null;
  /** What is left out has not changed. */
  readonly changes: Partial<ContractChanges>;
}

/**
 * Adds a change to the history of a contract. Belongs into the transaction that makes the change, whichever
 * operation that is. Refuses (`conflict`) a uniqueness key that an edit has used before.
 */
export async function recordEdit(tx: Transaction, input: RecordEditInput): Promise<ContractEdit> {
  const { contractId, timestamp, uniquenessKey = null, amendmentStartingAt = null, createdBy } = input;
  const changes = { ...NO_CHANGES, ...input.changes };
  const edit = {
    id: newId(),
    contractId,
    timestamp,
    uniquenessKey,
    amendmentStartingAt,
    createdBy,
    changes,
  };
  if (!(await insertContractEdit(tx, edit))) throw usedKey();
  return edit;
}

export function usedKey(): Error {
  return conflict('This uniqueness key has already been used.');
}
