/**
 * Computes a voided invoice again and issues the result at once (docs/explanation/invoices.md, "Void and regenerate").
 *
 * As in finalize.ts, usage is read without a transaction, and the invoice is issued if its input in PostgreSQL has not
 * changed. The contract is locked while it is issued, so a change of it happens before or after.
 */
import { Refusal } from '../../../core/errors.ts';
import { derivedId } from '../../../core/ids.ts';
import { inSnapshot, type Transaction } from '../../../store/base/database.ts';
import { afterCommit } from '../../../store/base/request-unit.ts';
import { findContract } from '../../../store/contracts/contracts.ts';
import { noteCustomerChanges } from '../../../store/customers/customer-changes.ts';
import { loadConstituents, lockConstituents } from '../../../store/invoices/invoice-constituents.ts';
import { takeInvoicedItems } from '../../../store/invoices/invoiced-items.ts';
import { findInvoiceHead, findRegenerated, type IssuedHead } from '../../../store/invoices/invoices.ts';
import type { BillingContext, RowContext } from '../../billing-context.ts';
import { issueConsolidated } from '../consolidated/issue.ts';
import { withFinalShortfalls } from '../drafts/shortfalls.ts';
import { drawnDrafts, freezeScheduledDrafts, lockDrawnBy } from '../issue/issue-scheduled.ts';
import { lockPayments, requireUnpaid } from './former-payments.ts';
import { requireIssued, requireUncredited } from './issued-invoice.ts';
import {
  type IssueInstead,
  itemsOf,
  lockOriginal,
  nothingToBill,
  notVoid,
  readOriginal,
} from './original.ts';
import { regenerateUsage } from './regenerated-usage.ts';

/** Maximum number of computations of an invoice whose input keeps changing. */
const PREPARATIONS_MAX = 5;

/**
 * Returns the id of the new invoice. Refuses an unknown invoice (`not_found`), as `invalid` one that is not voided, was
 * regenerated before, or has nothing left to bill, and as `conflict` one that was paid at its provider, unless its
 * amounts are to be collected again.
 */
export async function regenerateInvoice(
  context: BillingContext,
  id: string,
  { collectAgain = false }: { readonly collectAgain?: boolean } = {},
): Promise<string> {
  await requireUncredited(context, id);
  await requireIssued(context, id, (state) => notVoid(id, state));
  for (let preparation = 1; preparation <= PREPARATIONS_MAX; preparation += 1) {
    const regeneratedId = await issue(context, id, await prepare(context, id, collectAgain), collectAgain);
    if (regeneratedId === null) continue;
    await tell(context, regeneratedId);
    return regeneratedId;
  }
  throw new Refusal('unavailable', `the terms of invoice ${id} keep changing: try again later`);
}

async function tell({ db, invoiceLog }: BillingContext, id: string): Promise<void> {
  const invoice = invoiceLog === undefined ? null : await findInvoiceHead(db, id);
  if (invoice !== null) afterCommit(() => invoiceLog.regenerated(invoice));
}

async function prepare(context: BillingContext, id: string, collectAgain: boolean): Promise<IssueInstead> {
  const original = await inSnapshot(context.db, async (tx) => {
    const read = await readOriginal(tx, id);
    if (!collectAgain) await requireUnpaid(tx, id);
    return read;
  });
  switch (original.invoice.type) {
    case 'USAGE':
      return regenerateUsage(context, original);
    case 'SCHEDULED':
      return regenerateScheduled(context);
    case 'USAGE_CONSOLIDATED':
      return regenerateConsolidated;
  }
}

/** Null if the terms have changed since the invoice was computed. */
async function issue(
  context: BillingContext,
  id: string,
  issueInstead: IssueInstead,
  collectAgain: boolean,
): Promise<string | null> {
  return context.db.transaction(async (tx) => {
    const original = await lockOriginal(tx, id);
    await lockPayments(tx, id, { collectAgain });
    const identity = {
      id: derivedId('regenerated-invoice', id),
      issuedAt: context.clock.now(),
      regeneratedFromInvoiceId: id,
    };
    if (!(await issueInstead(tx, original, identity))) return null;
    await noteCustomerChanges(tx, [original.invoice.customerId]);
    return identity.id;
  });
}

/**
 * Consolidates the same invoices again, or those that were regenerated from them.
 * Refuses (`invalid`) one with an invoice that was voided and can still be regenerated: it must be first. The invoices
 * of archived contracts are left out; if none is left of a child, there is nothing to consolidate.
 */
const regenerateConsolidated: IssueInstead = async (tx, original, identity) => {
  const { invoice, contract } = original;
  const before = (await loadConstituents(tx, [invoice.id])).get(invoice.id) ?? [];
  const present: IssuedHead[] = [];
  for (const constituent of before) {
    const standing = await standingOf(tx, constituent);
    if (standing !== null) present.push(standing);
  }
  if (!present.some(({ contractId }) => contractId !== contract.id)) throw nothingToBill(original);
  const locked = await lockConstituents(
    tx,
    present.map(({ id }) => id),
  );
  if (locked.some(({ status }) => status !== 'FINALIZED')) return false;
  const { period, creditTypeId } = invoice;
  const { id: invoiceId, issuedAt, regeneratedFromInvoiceId } = identity;
  const target = { invoiceId, contract, period, creditTypeId, issueAt: issuedAt };
  await issueConsolidated(tx, target, locked, { issuedAt, regeneratedFromInvoiceId });
  return true;
};

/** A constituent, or the invoice that replaced it, if that is finalized; null if it can no longer be regenerated. */
async function standingOf(tx: Transaction, constituent: IssuedHead): Promise<IssuedHead | null> {
  let last = constituent;
  for (;;) {
    if (last.status === 'FINALIZED') return last;
    const nextId = await findRegenerated(tx, last.id);
    const next = nextId === null ? null : await findInvoiceHead(tx, nextId);
    if (next === null) break;
    last = next;
  }
  const contract = await findContract(tx, last.contractId);
  if (contract?.archivedAt !== null) return null;
  throw new Refusal('invalid', `invoice ${last.id} is on the invoice and is VOID: regenerate it first`);
}

/**
 * Everything is read when the invoice is issued, in a few queries. Refuses (`invalid`) one none of whose items is left:
 * their charges were archived, or the contract now ends before them.
 */
function regenerateScheduled({ clock }: Pick<RowContext, 'clock'>): IssueInstead {
  return async (tx, original, identity) => {
    const { contract, invoice } = original;
    const { items, prices, invoicedIds } = await itemsOf(tx, original, clock.now());
    const [first] = items;
    if (first === undefined) throw nothingToBill(original);
    const target = {
      contract,
      invoiceId: identity.id,
      at: invoice.period.start,
      issueAt: identity.issuedAt,
      creditTypeId: invoice.creditTypeId,
      gatedCommitId: first.gatedCommitId,
      trueUpCommitId: first.trueUpCommitId,
      requestedInvoiceId: first.requestedInvoiceId,
      items,
      prices,
    };
    const families = await lockDrawnBy(tx, [target]);
    const due = await withFinalShortfalls(tx, [target]);
    const drafts = await drawnDrafts(tx, due, clock.now(), { families, isBehindParents: false });
    if (drafts.length === 0) throw nothingToBill(original);
    await takeInvoicedItems(tx, invoice.id, invoicedIds);
    await freezeScheduledDrafts(
      tx,
      drafts.map((draft) => ({ ...draft, invoice: { ...draft.invoice, ...identity } })),
    );
    return true;
  };
}
