/** Regenerates a SCHEDULED invoice with the current state of its items. */
import { takeInvoicedItems } from '../../../store/invoices/invoiced-items.ts';
import type { RowContext } from '../../billing-context.ts';
import { withFinalShortfalls } from '../drafts/shortfalls.ts';
import { drawnDrafts, freezeScheduledDrafts, lockDrawnBy } from '../issue/issue-scheduled.ts';
import { type IssueInstead, itemsOf, nothingToBill } from './original.ts';

/**
 * Everything is read when the invoice is issued, in a few queries. Refuses (`invalid`) one none of whose items is left:
 * their charges were archived, or the contract now ends before them.
 */
export function regenerateScheduled({ clock }: Pick<RowContext, 'clock'>): IssueInstead {
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
