/**
 * Reads one invoice: an issued one from the store, or the computed draft of a period that has started and is not
 * issued.
 */
import { assert, notFound } from '../../../core/errors.ts';
import type { Invoice } from '../../../core/invoice.ts';
import { type Database, inSnapshot, type Transaction } from '../../../store/base/database.ts';
import { customerExists } from '../../../store/customers/customers.ts';
import type { IssuedInvoice } from '../../../store/invoices/invoices.ts';
import { findInvoice } from '../../../store/invoices/whole-invoices.ts';
import type { BillingContext, SnapshotContext } from '../../billing-context.ts';
import type { ScheduledTarget } from '../../invoice-queue/open-items.ts';
import { computeUsageInvoices } from '../compute/compute.ts';
import { type PlannedInvoices, planInvoices } from '../compute/plan-invoices.ts';
import {
  consolidatedDrafts,
  consolidatedPlaces,
  type FoundConsolidations,
  findConsolidations,
  withOpenParts,
} from '../consolidated/drafts.ts';
import { contractsOf, draftPlacesOf } from '../drafts/draft-places.ts';
import { drawnScheduledDrafts } from '../drafts/drawn-drafts.ts';
import { findLateUsage } from '../drafts/late-usage.ts';
import { withShortfalls } from '../drafts/shortfalls.ts';
import {
  draftWithWarnings,
  firstOf,
  type InvoiceWithUnbilledUsage,
  type InvoiceWithWarnings,
  issuedWithWarnings,
} from '../drafts/unbilled-usage.ts';
import { draftMoment } from '../usage/draft-moment.ts';

/**
 * One invoice of a customer, draft or issued; a finalized one with its late usage. Refuses an unknown one
 * (`not_found`).
 */
export async function getInvoice(
  context: BillingContext,
  customerId: string,
  invoiceId: string,
): Promise<InvoiceWithUnbilledUsage> {
  const found = await findOne(context, customerId, invoiceId);
  if (found.issued !== null) return issuedWithUnbilledUsage(context, found.issued);
  return { ...(await draftOf(context, found, invoiceId)), lateUsage: undefined };
}

/** The invoice without its late usage, which would have to be computed from events. */
export async function getBilledInvoice(
  context: BillingContext,
  customerId: string,
  invoiceId: string,
): Promise<Invoice> {
  const found = await findOne(context, customerId, invoiceId);
  return found.issued ?? (await draftOf(context, found, invoiceId));
}

interface FoundInvoice {
  readonly issued: IssuedInvoice | null;
  /** The draft of a SCHEDULED invoice. */
  readonly scheduled: InvoiceWithWarnings | undefined;
  /** The draft of a usage invoice, or those on a consolidated one. */
  readonly drafts: PlannedInvoices;
  readonly consolidated: FoundConsolidations;
}

/** One snapshot: an invoice that is being finalized is either a draft or issued. */
async function findOne(
  context: BillingContext,
  customerId: string,
  invoiceId: string,
): Promise<FoundInvoice> {
  return inSnapshot(context.db, async (db) => {
    await requireCustomer(db, customerId);
    const found = await findInvoice(db, customerId, invoiceId);
    const own = found === null ? await placesWithId({ ...context, db }, customerId, invoiceId) : [];
    const targets = own.flatMap((place) => (place.kind === 'consolidated' ? [place.target] : []));
    const [scheduled] = await scheduledOf(
      { ...context, db },
      own.flatMap((place) => (place.kind === 'scheduled' ? [place.target] : [])),
    );
    return {
      issued: found,
      scheduled,
      drafts: await planInvoices(
        db,
        withOpenParts(
          own.flatMap((place) => (place.kind === 'usage' ? [place.target] : [])),
          targets,
        ),
        context.clock.now(),
        { usageIn: context },
      ),
      consolidated: await findConsolidations(db, targets),
    };
  });
}

/** The place of the draft with this id; none where the customer has no such draft. */
async function placesWithId(context: SnapshotContext, customerId: string, invoiceId: string) {
  const contracts = await contractsOf(context, { customerId });
  const places = [
    ...(await draftPlacesOf(context, contracts, {})),
    ...(await consolidatedPlaces(context, contracts, {})),
  ];
  return places.filter(({ id }) => id === invoiceId);
}

async function draftOf(
  context: BillingContext,
  { scheduled, drafts, consolidated }: FoundInvoice,
  invoiceId: string,
): Promise<InvoiceWithWarnings> {
  if (scheduled !== undefined) return scheduled;
  const countedUpTo = await draftMoment(context.eventFacts, drafts);
  const computed = (await computeUsageInvoices(context, drafts, null, [], countedUpTo)).map(
    draftWithWarnings,
  );
  const [whole] = consolidatedDrafts(consolidated, computed);
  const draft = whole ?? computed[0];
  if (draft === undefined) throw notFound('invoice', invoiceId);
  return draft;
}

/**
 * A voided invoice bills nothing, and scheduled and historical ones no events, so they have no unbilled usage. That of a
 * consolidated one is shown on its constituents.
 */
async function issuedWithUnbilledUsage(
  context: BillingContext,
  issued: IssuedInvoice,
): Promise<InvoiceWithUnbilledUsage> {
  const [shown] = await issuedWithWarnings(context.db, [issued]);
  assert(shown !== undefined, 'an invoice is shown as one');
  if (issued.status === 'VOID' || issued.type !== 'USAGE' || issued.isHistorical)
    return { ...shown, lateUsage: undefined };
  const late = await findLateUsage(context, issued);
  return { ...shown, lateUsage: late === null ? null : firstOf(late) };
}

/** The drafts of SCHEDULED invoices, which have no warnings. True-ups without an amount are left out. */
export async function scheduledOf(
  context: SnapshotContext,
  targets: readonly ScheduledTarget[],
): Promise<InvoiceWithWarnings[]> {
  const drafts = await drawnScheduledDrafts(context, await withShortfalls(context, targets));
  return drafts.map(({ invoice }) => ({ ...invoice, warnings: firstOf([]) }));
}

export async function requireCustomer(db: Database | Transaction, customerId: string): Promise<void> {
  if (!(await customerExists(db, customerId))) throw notFound('customer', customerId);
}
