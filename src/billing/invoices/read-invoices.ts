/**
 * Reads one invoice: an issued one from the store, or the computed draft of a period that has started and is not
 * issued.
 */
import { assert, notFound } from '../../core/errors.ts';
import type { Invoice } from '../../core/invoice.ts';
import { findCustomer } from '../../store/customers.ts';
import { type Database, inSnapshot, type Transaction } from '../../store/database.ts';
import { findInvoice, type IssuedInvoice } from '../../store/invoices.ts';
import type { DraftDeps } from '../balances/deductions.ts';
import { type ComputeDeps, computeUsageInvoices, type PlannedInvoices, planInvoices } from './compute.ts';
import { draftPlaces } from './draft-places.ts';
import { findLateUsage } from './late-usage.ts';
import { drawnScheduledDrafts } from './scheduled/drawn-drafts.ts';
import type { ScheduledTarget } from './scheduled/open-items.ts';
import { withShortfalls } from './scheduled/shortfalls.ts';
import {
  draftWithWarnings,
  firstOf,
  type InvoiceWithUnbilledUsage,
  type InvoiceWithWarnings,
  issuedWithWarnings,
} from './unbilled-usage.ts';

export interface InvoiceDeps extends ComputeDeps {
  readonly db: Database;
}

/**
 * One invoice of a customer, draft or issued; a finalized one with its late usage. Refuses an unknown one
 * (`not_found`).
 */
export async function getInvoice(
  deps: InvoiceDeps,
  customerId: string,
  invoiceId: string,
): Promise<InvoiceWithUnbilledUsage> {
  const found = await findOne(deps, customerId, invoiceId);
  if (found.issued !== null) return issuedWithUnbilledUsage(deps, found.issued);
  return { ...(await draftOf(deps, found, invoiceId)), lateUsage: undefined };
}

/** The same invoice without its late usage, for which the events would have to be read. */
export async function getBilledInvoice(
  deps: InvoiceDeps,
  customerId: string,
  invoiceId: string,
): Promise<Invoice> {
  const found = await findOne(deps, customerId, invoiceId);
  return found.issued ?? (await draftOf(deps, found, invoiceId));
}

interface FoundInvoice {
  readonly issued: IssuedInvoice | null;
  /** The draft of a SCHEDULED invoice. */
  readonly scheduled: InvoiceWithWarnings | undefined;
  readonly drafts: PlannedInvoices;
}

/** One snapshot: an invoice that is being finalized is either a draft or issued. */
async function findOne(deps: InvoiceDeps, customerId: string, invoiceId: string): Promise<FoundInvoice> {
  return inSnapshot(deps.db, async (db) => {
    await requireCustomer(db, customerId);
    const found = await findInvoice(db, customerId, invoiceId);
    const open = found === null ? await draftPlaces({ ...deps, db }, { customerId }) : [];
    const own = open.filter(({ id }) => id === invoiceId);
    const [scheduled] = await scheduledOf(
      { ...deps, db },
      own.flatMap((place) => (place.kind === 'scheduled' ? [place.target] : [])),
    );
    return {
      issued: found,
      scheduled,
      drafts: await planInvoices(
        db,
        own.flatMap((place) => (place.kind === 'usage' ? [place.target] : [])),
        deps.clock.now(),
      ),
    };
  });
}

async function draftOf(
  deps: InvoiceDeps,
  { scheduled, drafts }: FoundInvoice,
  invoiceId: string,
): Promise<InvoiceWithWarnings> {
  if (scheduled !== undefined) return scheduled;
  const [draft] = await computeUsageInvoices(deps, drafts, null);
  if (draft === undefined) throw notFound('invoice', invoiceId);
  return draftWithWarnings(draft);
}

/** A voided invoice bills nothing, and scheduled and historical ones no events, so they have no unbilled usage. */
async function issuedWithUnbilledUsage(
  deps: InvoiceDeps,
  issued: IssuedInvoice,
): Promise<InvoiceWithUnbilledUsage> {
  const [shown] = await issuedWithWarnings(deps.db, [issued]);
  assert(shown !== undefined, 'an invoice is shown as one');
  if (issued.status === 'VOID' || issued.type === 'SCHEDULED' || issued.isHistorical)
    return { ...shown, lateUsage: undefined };
  const late = await findLateUsage(deps, issued);
  return { ...shown, lateUsage: late === null ? null : firstOf(late) };
}

/** The drafts of SCHEDULED invoices, which have no warnings. Without true-ups of nothing. */
export async function scheduledOf(
  deps: DraftDeps,
  targets: readonly ScheduledTarget[],
): Promise<InvoiceWithWarnings[]> {
  const drafts = await drawnScheduledDrafts(deps, await withShortfalls(deps, targets));
  return drafts.map(({ invoice }) => ({ ...invoice, warnings: firstOf([]) }));
}

export async function requireCustomer(db: Database | Transaction, customerId: string): Promise<void> {
  if ((await findCustomer(db, customerId)) === null) throw notFound('customer', customerId);
}
