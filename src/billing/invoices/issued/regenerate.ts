/**
 * Computes a voided invoice again and issues the result at once (docs/explanation/invoices.md, "Void and regenerate").
 *
 * As in finalize.ts, usage is read without a transaction, and the invoice is issued if its input in PostgreSQL has not
 * changed. The contract is locked while it is issued, so a change of it happens before or after.
 */
import { Refusal } from '../../../core/errors.ts';
import { derivedId } from '../../../core/ids.ts';
import { inSnapshot } from '../../../store/base/database.ts';
import { afterCommit } from '../../../store/base/request-unit.ts';
import { noteCustomerChanges } from '../../../store/customers/customer-changes.ts';
import { findInvoiceHead } from '../../../store/invoices/invoices.ts';
import type { BillingContext } from '../../billing-context.ts';
import { lockPayments, requireUnpaid } from './former-payments.ts';
import { requireIssued } from './issued-invoice.ts';
import { type IssueInstead, lockOriginal, notVoid, readOriginal } from './original.ts';
import { regenerateConsolidated } from './regenerated-consolidated.ts';
import { regenerateScheduled } from './regenerated-scheduled.ts';
import { regenerateUsage } from './regenerated-usage.ts';

/** Maximum number of computations of an invoice whose input keeps changing. */
const PREPARATIONS_MAX = 5;

/**
 * Returns the id of the new invoice. Refuses an unknown invoice (`not_found`), as `invalid` one that is not voided, was
 * regenerated before, or has nothing left to bill, and as `conflict` one that was paid at its provider, unless its
 * amounts are to be collected again.
 */
export async function regenerateInvoice(
  deps: BillingContext,
  id: string,
  { collectAgain = false }: { readonly collectAgain?: boolean } = {},
): Promise<string> {
  await requireIssued(deps, id, (state) => notVoid(id, state));
  for (let preparation = 1; preparation <= PREPARATIONS_MAX; preparation += 1) {
    const regeneratedId = await issue(deps, id, await prepare(deps, id, collectAgain), collectAgain);
    if (regeneratedId === null) continue;
    await tell(deps, regeneratedId);
    return regeneratedId;
  }
  throw new Refusal('unavailable', `the terms of invoice ${id} keep changing: try again later`);
}

async function tell({ db, invoiceLog }: BillingContext, id: string): Promise<void> {
  const invoice = invoiceLog === undefined ? null : await findInvoiceHead(db, id);
  if (invoice !== null) afterCommit(() => invoiceLog.regenerated(invoice));
}

async function prepare(deps: BillingContext, id: string, collectAgain: boolean): Promise<IssueInstead> {
  const original = await inSnapshot(deps.db, async (tx) => {
    const read = await readOriginal(tx, id);
    if (!collectAgain) await requireUnpaid(tx, id);
    return read;
  });
  switch (original.invoice.type) {
    case 'USAGE':
      return regenerateUsage(deps, original);
    case 'SCHEDULED':
      return regenerateScheduled(deps);
    case 'USAGE_CONSOLIDATED':
      return regenerateConsolidated;
  }
}

/** Null if the terms have changed since the invoice was computed. */
async function issue(
  deps: BillingContext,
  id: string,
  issueInstead: IssueInstead,
  collectAgain: boolean,
): Promise<string | null> {
  return deps.db.transaction(async (tx) => {
    const original = await lockOriginal(tx, id);
    await lockPayments(tx, id, { collectAgain });
    const identity = {
      id: derivedId('regenerated-invoice', id),
      issuedAt: deps.clock.now(),
      regeneratedFromInvoiceId: id,
    };
    if (!(await issueInstead(tx, original, identity))) return null;
    await noteCustomerChanges(tx, [original.invoice.customerId]);
    return identity.id;
  });
}
