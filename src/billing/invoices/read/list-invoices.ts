/** Lists the invoices of a customer: issued ones from the store, and drafts, which are computed. */

import { cutPage, type KeysetPosition, type Page, pageWithRows } from '../../../core/paging.ts';
import { inSnapshot } from '../../../store/base/database.ts';
import { type InvoicePageRequest, listInvoiceHeads } from '../../../store/invoices/invoice-lists.ts';
import type { IssuedInvoice } from '../../../store/invoices/invoices.ts';
import { withLines } from '../../../store/invoices/whole-invoices.ts';
import type { BillingContext, SnapshotContext } from '../../billing-context.ts';
import { computeDrafts } from '../compute/compute.ts';
import { type PlannedInvoices, planInvoices } from '../compute/plan-invoices.ts';
import {
  consolidatedDrafts,
  consolidatedPlaces,
  type FoundConsolidations,
  findConsolidations,
  withOpenParts,
} from '../consolidated/drafts.ts';
import { contractsOf, draftPlacesOf, type InvoiceListFilter } from '../drafts/draft-places.ts';
import { byPosition, isBeyond, type Placed } from '../drafts/invoice-order.ts';
import { draftWithWarnings, type InvoiceWithWarnings, issuedWithWarnings } from '../drafts/unbilled-usage.ts';
import { draftMoment } from '../usage/draft-moment.ts';
import { requireCustomer, scheduledOf } from './read-invoices.ts';

/**
 * A page of a customer's invoices by issue date (drafts by their expected one) and id. A page has no true-ups
 * without a shortfall, which are no invoices, but always a row while some follow (`pageWithRows`). Throws `Refusal`
 * not_found for an unknown customer.
 */
export async function listInvoices(
  context: BillingContext,
  filter: InvoiceListFilter,
  { order, ...page }: InvoicePageRequest,
): Promise<Page<InvoiceWithWarnings>> {
  return pageWithRows(page, (part) => readInvoices(context, filter, { ...part, order }), positionOf);
}

function positionOf({ issuedAt, id }: Placed): KeysetPosition {
  return { at: issuedAt, id };
}

async function readInvoices(
  context: BillingContext,
  filter: InvoiceListFilter,
  page: InvoicePageRequest,
): Promise<Page<InvoiceWithWarnings>> {
  const { stored, usage, consolidated, next } = await inSnapshot(context.db, async (db) => {
    await requireCustomer(db, filter.customerId);
    return findPage({ ...context, db }, filter, page);
  });
  const countedUpTo = await draftMoment(context.eventFacts, usage.planned);
  const computed = (await computeDrafts(context, usage.planned, countedUpTo)).map(draftWithWarnings);
  const rows = [
    ...stored,
    ...computed.filter(({ id }) => usage.ids.has(id)),
    ...consolidatedDrafts(consolidated, computed),
  ].sort(byPosition(page.order));
  return { rows, next };
}

interface FoundPage {
  /** Decided by places: a true-up without a shortfall has a place and is no invoice. */
  readonly next: KeysetPosition | null;
  /** Issued invoices, and drafts of SCHEDULED ones. */
  readonly stored: readonly InvoiceWithWarnings[];
  /** Drafts of usage invoices: those of the page by id, and all that are to be computed. */
  readonly usage: { readonly ids: ReadonlySet<string>; readonly planned: PlannedInvoices };
  readonly consolidated: FoundConsolidations;
}

/** The invoices of the page, before drafts of usage are computed. */
async function findPage(
  context: SnapshotContext,
  filter: InvoiceListFilter,
  page: InvoicePageRequest,
): Promise<FoundPage> {
  const wantsDrafts = filter.status === undefined || filter.status === 'DRAFT';
  const contracts = wantsDrafts ? await contractsOf(context, filter) : [];
  const [places, consolidated, heads] = await Promise.all([
    draftPlacesOf(context, contracts, filter),
    consolidatedPlaces(context, contracts, filter),
    storedHeads(context, filter, { ...page, limit: page.limit + 1 }),
  ]);
  const open = [...places, ...consolidated].filter((place) => isBeyond(place, page));
  const { rows: shown, next } = cutPage(
    [...heads, ...open].sort(byPosition(page.order)),
    page.limit,
    positionOf,
  );
  const ids = new Set(shown.map(({ id }) => id));
  const issued = await withLines(
    context.db,
    heads.filter(({ id }) => ids.has(id)),
  );
  const own = open.filter(({ id }) => ids.has(id));
  const usage = own.flatMap((place) => (place.kind === 'usage' ? [place] : []));
  const targets = own.flatMap((place) => (place.kind === 'consolidated' ? [place.target] : []));
  return {
    next,
    stored: [
      ...(await issuedWithWarnings(context.db, issued)),
      ...(await scheduledOf(
        context,
        own.flatMap((place) => (place.kind === 'scheduled' ? [place.target] : [])),
      )),
    ],
    usage: {
      ids: new Set(usage.map(({ id }) => id)),
      planned: await planInvoices(
        context.db,
        withOpenParts(
          usage.map(({ target }) => target),
          targets,
        ),
        context.clock.now(),
        { usageIn: context },
      ),
    },
    consolidated: await findConsolidations(context.db, targets),
  };
}

async function storedHeads(
  context: SnapshotContext,
  filter: InvoiceListFilter,
  page: InvoicePageRequest,
): Promise<Omit<IssuedInvoice, 'lines'>[]> {
  if (filter.status === 'DRAFT') return [];
  const stored = {
    customerId: filter.customerId,
    contractId: filter.contractId,
    status: filter.status,
    creditTypeId: filter.creditTypeId,
    type: filter.type,
    startingOn: filter.startingOn,
    endingBefore: filter.endingBefore,
    month: filter.month,
  };
  return listInvoiceHeads(context.db, stored, page);
}
