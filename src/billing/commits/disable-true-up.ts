/**
 * Waives the true-up of a postpaid commit: its invoice item stays on record and is not invoiced, as with `doNotInvoice`
 * of a prepaid commit. The unused part of the commit expires.
 */
import { invalid, namesNothing, Refusal } from '../../core/errors.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { FullContract } from '../../core/terms/contract.ts';
import { publishCommitChanges } from '../../notifications/lifecycle-messages.ts';
import { updateCommit } from '../../store/balances/commits.ts';
import type { Transaction } from '../../store/base/database.ts';
import { loadInvoicedItems } from '../../store/invoices/invoiced-items.ts';
import type { BillingContext } from '../billing-context.ts';
import { changeContract } from '../contracts/change-contract.ts';
import { requireNotArchived } from '../contracts/contract-changes.ts';
import { planScheduledInvoices } from '../invoice-queue/scheduled-jobs.ts';
import { requireCommit } from './edit-commit.ts';
import { lockOwnCommit } from './lock-own-commit.ts';

export interface DisableTrueUpInput {
  readonly customerId: string;
  readonly commitId: string;
  /** The contract of the commit, or the one that invoices it. */
  readonly contractId: string;
  readonly changedBy: string;
}

/**
 * Refuses an unknown customer, commit or contract (`not_found`), a commit that is not postpaid or is archived, and one
 * whose true-up is on a finalized invoice (`invalid`). Idempotent.
 */
export async function disableTrueUp(context: BillingContext, input: DisableTrueUpInput): Promise<void> {
  const { customerId, commitId: id, contractId, changedBy } = input;
  await context.db.transaction(async (tx) => {
    const commit = await requireCommit(tx, { customerId, id, kind: 'COMMIT' });
    if ((commit.contractId ?? commit.invoiceContractId) !== contractId) {
      throw namesNothing(['contractId'], `contract ${contractId} has no commit ${id}`);
    }
    if (commit.contractId === null) {
      const found = await lockOwnCommit(tx, commit);
      if (found === null) throw namesNothing(['contractId'], `contract ${contractId} has no commit ${id}`);
      const { commit: locked, contracts } = found;
      const waived = await withoutTrueUp(tx, locked);
      await updateCommit(tx, waived);
      await planScheduledInvoices(tx, contracts, context.clock.now());
      await publishCommitChanges(tx, [{ before: locked, after: waived }], context.clock.now());
      return;
    }
    if (commit.invoiceSchedule?.doNotInvoice && commit.type === 'POSTPAID') return;
    await changeContract(tx, context, input, { now: context.clock.now(), changedBy }, async (full) => {
      requireNotArchived(full);
      return { after: await withWaived(tx, full, id), changes: {} };
    });
  });
}

async function withWaived(tx: Transaction, full: FullContract, commitId: string): Promise<FullContract> {
  const commits: Commit[] = [];
  for (const commit of full.terms.commits) {
    commits.push(commit.id === commitId ? await withoutTrueUp(tx, commit) : commit);
  }
  return { ...full, terms: { ...full.terms, commits } };
}

async function withoutTrueUp(tx: Transaction, commit: Commit): Promise<Commit> {
  const { id, type, invoiceSchedule, archivedAt } = commit;
  if (type !== 'POSTPAID' || invoiceSchedule === null) {
    throw invalid(['commitId'], 'has no true-up: it is not a POSTPAID commit');
  }
  if (archivedAt !== null) throw invalid(['commitId'], `commit ${id} is archived`);
  const invoiced = await loadInvoicedItems(
    tx,
    invoiceSchedule.items.map((item) => item.id),
  );
  const [invoice] = [...invoiced.values()].filter(({ status }) => status === 'FINALIZED');
  if (invoice !== undefined) {
    throw new Refusal(
      'invalid',
      `the true-up of commit ${id} is on invoice ${invoice.invoiceId}, which is finalized`,
    );
  }
  return { ...commit, invoiceSchedule: { ...invoiceSchedule, doNotInvoice: true } };
}
