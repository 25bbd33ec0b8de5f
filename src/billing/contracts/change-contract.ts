/**
 * The only way to change an existing contract: lock it, load it, compute its new state, and settle the change with all
 * its consequences (settle-contract.ts). Used by edits, end dates, usage filters and archiving.
 */
import { assert, keyUsed } from '../../core/errors.ts';
import type { Contract, FullContract } from '../../core/terms/contract.ts';
import type { ContractEdit } from '../../core/terms/contract-edits.ts';
import type { Transaction } from '../../store/base/database.ts';
import { withTerms } from '../../store/contract-terms/contract-terms.ts';
import { editWithKey } from '../../store/contracts/contract-edits.ts';
import { lockContract } from '../../store/contracts/contracts.ts';
import type { BillingContext } from '../billing-context.ts';
import { holdScheduledInvoices } from '../invoice-queue/scheduled-jobs.ts';
import { missingContract } from './find-contract.ts';
import { holdGrants } from './grants/grant-jobs.ts';
import { type ChangeOrigin, type ContractChange, settleContracts } from './settle-contract.ts';

export interface ContractReference {
  readonly customerId: string;
  readonly contractId: string;
}

/**
 * Replaces the contract by the state that `change` returns, and settles it. `change` may refuse by throwing. Returns
 * the history entry. Refuses a missing contract (see `missingContract`), and the same as `settleContracts`.
 */
export async function changeContract(
  tx: Transaction,
  context: Pick<BillingContext, 'gracePeriodHours'>,
  { customerId, contractId }: ContractReference,
  origin: ChangeOrigin,
  change: (before: FullContract) => ContractChange | Promise<ContractChange>,
): Promise<ContractEdit> {
  const contract = await lockContract(tx, contractId);
  if (contract === null || contract.customerId !== customerId) {
    throw await missingContract(tx, customerId, contractId);
  }
  await holdGrants(tx, [contractId]);
  // Items on issued invoices limit the possible changes.
  await holdScheduledInvoices(tx, [contractId]);
  const { uniquenessKey = null } = origin;
  const sameEdit = uniquenessKey === null ? null : await editWithKey(tx, uniquenessKey);
  if (sameEdit !== null) throw keyUsed(sameEdit);
  const [before] = await withTerms(tx, [contract]);
  assert(before !== undefined, `contract ${contractId} is loaded`);
  const settled = await settleContracts(tx, context, [{ before, ...(await change(before)) }], origin);
  const [edit] = settled.edits;
  assert(edit !== undefined, `the change of contract ${contractId} is in its history`);
  return edit;
}

/** One call is one transaction; this limit keeps it within seconds. */
export const CONTRACTS_PER_CALL_MAX = 1_000;

/** Contracts held in memory at once. */
const CONTRACTS_PER_READ = 100;

/**
 * Applies `change` to several contracts, which this transaction has locked in the order of their starts. Processes them
 * from last to first, so that a renewing contract is changed before the contract whose rollovers it holds.
 */
export async function changeLockedContracts(
  tx: Transaction,
  context: Pick<BillingContext, 'gracePeriodHours'>,
  contracts: readonly Contract[],
  origin: Pick<ChangeOrigin, 'now' | 'changedBy'>,
  change: (before: FullContract) => ContractChange,
): Promise<void> {
  for (let end = contracts.length; end > 0; end -= CONTRACTS_PER_READ) {
    const slice = contracts.slice(Math.max(0, end - CONTRACTS_PER_READ), end);
    await holdGrants(
      tx,
      slice.map(({ id }) => id),
    );
    const states = await withTerms(tx, slice);
    const changes = states.map((before) => ({ before, ...change(before) }));
    await settleContracts(tx, context, changes, origin);
  }
}
