/**
 * Changes of one commit or credit, of a contract or of a customer (docs/explanation/contracts.md, "Edits of one
 * commit").
 *
 * A commit of a contract is changed by an edit of the contract, with its checks, consequences and history. A commit of
 * a customer is treated as the only term of a contract, so that the same functions check and change it; it has no
 * history.
 */
import { type FieldPath, invalid, notFound, Refusal } from '../../core/errors.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { ContractTerms } from '../../core/terms/contract.ts';
import { addedTerms, NO_CHANGES, NO_REMOVALS, NO_UPDATES } from '../../core/terms/contract-edits.ts';
import type { CommitPatch } from '../../core/terms/patches.ts';
import { publishCommitChanges } from '../../notifications/lifecycle-messages.ts';
import { retry } from '../../runtime/retry.ts';
import { loadCommits, updateCommit } from '../../store/balances/commits.ts';
import type { Transaction } from '../../store/base/database.ts';
import { noteCustomerChanges } from '../../store/customers/customer-changes.ts';
import { customerExists } from '../../store/customers/customers.ts';
import type { BillingContext } from '../billing-context.ts';
import { changeContract } from '../contracts/change-contract.ts';
import { requireNotArchived } from '../contracts/contract-changes.ts';
import { type ContractEditInput, NO_EDIT } from '../contracts/edits/apply-edit.ts';
import { checkedEdit } from '../contracts/edits/edit-contract.ts';
import { refuseInvoicedChanges } from '../contracts/edits/invoiced-terms.ts';
import { namedByUpdated, namedByUpdates } from '../contracts/edits/named-by-updates.ts';
import { removeTerms } from '../contracts/edits/remove-terms.ts';
import { updateTerms } from '../contracts/edits/update-terms.ts';
import { loadTermsContext } from '../contracts/terms/terms-context.ts';
import { planScheduledInvoices } from '../invoice-queue/scheduled-jobs.ts';
import { checkInvoiceContract, requireOwnContracts } from './invoice-contract.ts';
import { lockOwnCommit } from './lock-own-commit.ts';

export interface CommitReference {
  readonly customerId: string;
  readonly id: string;
  readonly kind: 'COMMIT' | 'CREDIT';
}

/** Absent: no change. */
export interface CommitEdit extends Omit<CommitPatch, 'id'> {
  /** For commits of a customer only. */
  readonly invoiceContractId?: string | undefined;
  /** For prepaid commits and credits of a customer only. Null: all contracts of the customer. */
  readonly applicableContractIds?: readonly string[] | null | undefined;
}

/** The action on a commit. */
export type CommitChange = { readonly edit: CommitEdit } | 'ARCHIVE';

/**
 * Applies the change that `change` returns for the current commit; null for none. Refuses an unknown customer, commit
 * or contract (`not_found`), a commit that is archived or has rolled over, changes of invoiced items, and the first
 * invalid field (`invalid`). Paths begin at the members of the edit.
 */
export async function changeCommit(
  context: BillingContext,
  reference: CommitReference & { readonly changedBy: string },
  change: (commit: Commit) => CommitChange | null,
): Promise<void> {
  const { kind, id } = reference;
  await retry(() => changeOnce(context, reference, change), {
    name: 'moved commits',
    attemptsMax: ATTEMPTS_MAX,
    isTransient: (error) => error instanceof CommitMovedError,
    exhausted: () =>
      new Refusal('unavailable', `${kind.toLowerCase()} ${id} is being moved: try again later`),
  });
}

/** Another request has moved the commit to another contract: the transaction has to be retried. */
class CommitMovedError extends Error {
  override readonly name = 'CommitMovedError';
}

const ATTEMPTS_MAX = 10;

function changeOnce(
  context: BillingContext,
  reference: CommitReference & { readonly changedBy: string },
  change: (commit: Commit) => CommitChange | null,
): Promise<void> {
  return context.db.transaction(async (tx) => {
    const commit = await requireCommit(tx, reference);
    const { contractId } = commit;
    if (contractId === null) await changeOwnCommit(tx, context, { reference, commit }, change);
    else await changeContractCommit(tx, context, { ...reference, contractId }, change);
  });
}

/** Refuses (`not_found`) an unknown customer, and a commit or credit of another customer. */
export async function requireCommit(
  tx: Transaction,
  { customerId, id, kind }: CommitReference,
): Promise<Commit> {
  const [commit] = await loadCommits(tx, { ids: [id], includeArchived: true });
  if (commit?.customerId === customerId && (commit.type === 'CREDIT') === (kind === 'CREDIT')) return commit;
  if (!(await customerExists(tx, customerId))) throw notFound('customer', customerId, 'CustomerNotFound');
  throw notFound(kind.toLowerCase(), id);
}

async function changeContractCommit(
  tx: Transaction,
  context: BillingContext,
  reference: CommitReference & { readonly contractId: string; readonly changedBy: string },
  change: (commit: Commit) => CommitChange | null,
): Promise<void> {
  const { contractId, changedBy } = reference;
  const now = context.clock.now();
  const first = await requireCommit(tx, reference);
  if (change(first) === null) return;
  await changeContract(tx, context, reference, { now, changedBy }, async (full) => {
    requireNotArchived(full);
    const commit = full.terms.commits.find(({ id }) => id === reference.id) ?? first;
    const wanted = change(commit);
    if (wanted !== null && wanted !== 'ARCHIVE') refuseOwnMembers(wanted.edit, contractId);
    const edit = { ...NO_EDIT, ...editOf(reference, wanted) };
    const { paymentProvider } = context;
    const origin = { additionsAt: ['additions'], editedBy: changedBy, now, paymentProvider };
    return ofOneTerm(() => checkedEdit(tx, full, edit, origin));
  });
}

/** Refuses members for commits of a customer only. A commit of a contract is invoiced by that contract. */
function refuseOwnMembers(
  { invoiceContractId, applicableContractIds }: CommitEdit,
  contractId: string,
): void {
  if (invoiceContractId !== undefined && invoiceContractId !== contractId) {
    throw invalid(['invoiceContractId'], 'cannot be changed for commits of a contract');
  }
  if (applicableContractIds !== undefined) {
    throw invalid(['applicableContractIds'], 'cannot be changed for commits and credits of a contract');
  }
}

async function changeOwnCommit(
  tx: Transaction,
  context: BillingContext,
  { reference, commit: first }: { readonly reference: CommitReference; readonly commit: Commit },
  change: (commit: Commit) => CommitChange | null,
): Promise<void> {
  const intended = change(first);
  if (intended === null) return;
  const locked = await lockOwnCommit(tx, first, newInvoiceContract(intended));
  if (locked === null) throw new CommitMovedError();
  const { commit, contracts } = locked;
  const wanted = change(commit);
  if (wanted === null) return;
  const edit = wanted === 'ARCHIVE' ? {} : wanted.edit;
  const invoiceContractId = edit.invoiceContractId ?? commit.invoiceContractId;
  const changed = await ofOneTerm(() => changedTerm(tx, context, commit, editOf(reference, wanted)));
  const after: Commit = {
    ...changed,
    invoiceContractId,
    applicableContractIds: await applicableContracts(tx, commit, edit),
  };
  if (wanted !== 'ARCHIVE') checkInvoiceContract(after, contracts);
  const own = { contract: null, contractEnd: null };
  await refuseInvoicedChanges(tx, onlyTerm(commit), onlyTerm(after), own);
  await updateCommit(tx, after);
  await planScheduledInvoices(tx, contracts, context.clock.now());
  await noteCustomerChanges(tx, [commit.customerId]);
  await publishCommitChanges(tx, [{ before: commit, after }], context.clock.now());
}

function newInvoiceContract(change: CommitChange): string[] {
  return change === 'ARCHIVE' || change.edit.invoiceContractId === undefined
    ? []
    : [change.edit.invoiceContractId];
}

async function applicableContracts(
  tx: Transaction,
  commit: Commit,
  { applicableContractIds: ids }: CommitEdit,
): Promise<readonly string[]> {
  const path = ['applicableContractIds'];
  if (ids === undefined) return commit.applicableContractIds;
  if (commit.type === 'POSTPAID') throw invalid(path, 'cannot be changed for POSTPAID commits');
  await requireOwnContracts(tx, commit.customerId, ids ?? [], path);
  return [...new Set(ids)];
}

/** The commit after the change of its terms. */
async function changedTerm(
  tx: Transaction,
  { clock, paymentProvider }: BillingContext,
  commit: Commit,
  { updates, removals }: Pick<ContractEditInput, 'updates' | 'removals'>,
): Promise<Commit> {
  const now = clock.now();
  const terms = onlyTerm(commit);
  const named = [namedByUpdates(updates), namedByUpdated(terms, updates)];
  const loaded = await loadTermsContext(
    tx,
    null,
    {
      productIds: named.flatMap(({ productIds }) => productIds),
      creditTypeIds: named.flatMap(({ creditTypeIds }) => creditTypeIds),
      balanceIds: [],
    },
    { contract: null, paymentProvider },
  );
  const removed = removeTerms(terms, removals, now);
  const { commits } = updateTerms(removed, updates, { contract: ANY_TIME, loaded, now });
  return commits[0] ?? commit;
}

const ANY_TIME = {
  startingAt: 0,
  endingBefore: null,
  multiplierPrioritization: 'LOWEST_MULTIPLIER',
} as const;

function onlyTerm(commit: Commit): ContractTerms {
  return { ...addedTerms(NO_CHANGES), commits: [commit] };
}

function editOf(
  { id, kind }: CommitReference,
  change: CommitChange | null,
): Pick<ContractEditInput, 'updates' | 'removals'> {
  const isCredit = kind === 'CREDIT';
  if (change === null) return { updates: NO_UPDATES, removals: NO_REMOVALS };
  if (change === 'ARCHIVE') {
    const removals = { ...NO_REMOVALS, [isCredit ? 'archiveCredits' : 'archiveCommits']: [id] };
    return { updates: NO_UPDATES, removals };
  }
  const { invoiceContractId: _, applicableContractIds: __, ...patch } = change.edit;
  const updates = { ...NO_UPDATES, [isCredit ? 'updateCredits' : 'updateCommits']: [{ id, ...patch }] };
  return { updates, removals: NO_REMOVALS };
}

/** Maps refusals of a contract edit to the request for one term: without the list that contains it. */
async function ofOneTerm<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Refusal) || !isInList(error.path)) throw error;
    const { kind, problem, path, code, details } = error;
    throw new Refusal(kind, problem, { path: path.slice(3), code, details });
  }
}

function isInList([group, , index]: FieldPath): boolean {
  return (group === 'updates' || group === 'removals') && index === 0;
}
