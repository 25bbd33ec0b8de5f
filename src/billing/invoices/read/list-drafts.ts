/**
 * Lists the drafts of all customers. They are computed when they are read, so a page goes from customer to customer and
 * computes some of them at a time, until it is full or has taken its time (docs/reference/limits.md).
 */
import type { InvoiceType } from '../../../core/invoice.ts';
import type { InvoiceTimeFilter } from '../../../core/invoice-month.ts';
import type { Page, PageRequest } from '../../../core/paging.ts';
import { createConnectionPool } from '../../../metering/client/connection-pool.ts';
import { type Database, inSnapshot, type Transaction } from '../../../store/base/database.ts';
import { type BilledCustomer, billedCustomers } from '../../../store/contracts/billed-customers.ts';
import { findContract, loadContracts } from '../../../store/contracts/contracts.ts';
import type { InvoicePageRequest } from '../../../store/invoices/invoice-lists.ts';
import type { BillingContext, SnapshotContext } from '../../billing-context.ts';
import { computeDrafts } from '../compute/compute.ts';
import { type PlannedInvoices, planInvoices } from '../compute/plan-invoices.ts';
import {
  type ConsolidatedPlace,
  consolidatedDrafts,
  consolidatedPlaces,
  type FoundConsolidations,
  findConsolidations,
  withOpenParts,
} from '../consolidated/drafts.ts';
import { type DraftPlace, draftPlacesOf } from '../drafts/draft-places.ts';
import { byPosition, isBeyond, type Placed } from '../drafts/invoice-order.ts';
import { draftWithWarnings, type InvoiceWithWarnings } from '../drafts/unbilled-usage.ts';
import { draftMoment } from '../usage/draft-moment.ts';
import { scheduledOf } from './read-invoices.ts';

export interface DraftListFilter extends InvoiceTimeFilter {
  readonly customerId?: string | undefined;
  readonly customerIds?: readonly string[] | undefined;
  readonly contractId?: string | undefined;
  /** Consolidated ones repeat the lines of others. */
  readonly withoutConsolidated?: true;
  readonly type?: InvoiceType | undefined;
  readonly hasWarnings?: boolean | undefined;
}

/** The draft, or the customer with all its drafts, after which the next page begins. */
export interface DraftPosition {
  readonly customer: BilledCustomer;
  /** Null: after all of them. */
  readonly draft: Placed | null;
}

export interface DraftPageRequest extends PageRequest<DraftPosition> {
  /** The order of the drafts of one customer: by expected issue date. Customers are ordered by creation and id. */
  readonly order: InvoicePageRequest['order'];
}

/** When a page ends although there are more drafts, and in which steps it gets there. */
export interface DraftPace {
  readonly pageMsMax: number;
  readonly customersPerPage: number;
  /** Lines of all drafts on a page. */
  readonly linesPerPage: number;
  /** Drafts that are computed together, as of one moment. */
  readonly draftsPerStep: number;
  readonly customersPerStep: number;
}

const PACE: DraftPace = {
  ...{ pageMsMax: 10_000, customersPerPage: 5_000, linesPerPage: 200_000 },
  ...{ draftsPerStep: 25, customersPerStep: 50 },
};

const PAGES_WAITING_MAX = 10;
/** Pages that a process computes at a time. */
const pages = createConnectionPool(['first', 'second'], { waitingMax: PAGES_WAITING_MAX });
/** Their queries for many customers share the lane of requests as if they were of one customer. */
const SHARE = 'drafts of all customers';

/**
 * A page of the drafts, without true-ups that charge nothing. It ends early when it has taken its time, has read as many
 * customers, or has as many lines as a page may; then there is a next one. Refuses as overloaded when too many wait.
 */
export function listDrafts(
  context: BillingContext,
  filter: DraftListFilter,
  page: DraftPageRequest,
  pace: DraftPace = PACE,
): Promise<Page<InvoiceWithWarnings, DraftPosition>> {
  return inDraftPage(context, (shared) => readPage(shared, filter, page, pace));
}

/** Work that computes drafts of many customers waits for its turn. Refuses as overloaded if too much waits. */
export function inDraftPage<Result>(
  context: BillingContext,
  work: (shared: BillingContext) => Promise<Result>,
): Promise<Result> {
  const shared = { ...context, usageSource: context.usageSource.inShare(SHARE) };
  return pages.withConnection(() => work(shared));
}

async function readPage(
  context: BillingContext,
  filter: DraftListFilter,
  { order, limit, after: first }: DraftPageRequest,
  pace: DraftPace,
): Promise<Page<InvoiceWithWarnings, DraftPosition>> {
  const end = performance.now() + pace.pageMsMax;
  const rows: InvoiceWithWarnings[] = [];
  let after = first;
  let customers = 0;
  let lines = 0;
  for (;;) {
    const most = Math.min(pace.draftsPerStep, limit - rows.length);
    const step = { order, limit: most, after, customersMax: pace.customersPerStep };
    const part = await readStep(context, filter, step);
    for (const draft of part.rows) {
      if (filter.hasWarnings !== undefined && draft.warnings.count > 0 !== filter.hasWarnings) continue;
      rows.push(draft);
      lines += draft.lines.length;
    }
    after = part.next;
    customers += part.customers;
    const isFull = rows.length === limit || lines >= pace.linesPerPage;
    if (after === null || isFull || customers >= pace.customersPerPage || performance.now() >= end) {
      return { rows, next: after };
    }
  }
}

interface Step extends DraftPageRequest {
  readonly customersMax: number;
}

interface DraftsOfStep extends Page<InvoiceWithWarnings, DraftPosition> {
  /** Number of customers that were searched. */
  readonly customers: number;
}

/** Some drafts as of one moment. */
async function readStep(context: BillingContext, filter: DraftListFilter, page: Step): Promise<DraftsOfStep> {
  const { next, customers, drafts } = await inSnapshot(context.db, async (db) => {
    const own = { ...context, db };
    const { places, ...found } = await nextPlaces(own, filter, page);
    return { ...found, drafts: await planPlaces(own, places) };
  });
  return { rows: await computePlaces(context, drafts), next, customers };
}

type ListedPlace = (DraftPlace | ConsolidatedPlace) & { readonly customer: BilledCustomer };

interface FoundPlaces {
  /** In the order of the list. */
  readonly places: readonly ListedPlace[];
  readonly next: DraftPosition | null;
  readonly customers: number;
}

/** Drafts before they are computed. */
interface PlannedPlaces {
  readonly places: readonly Placed[];
  readonly scheduled: readonly InvoiceWithWarnings[];
  readonly planned: PlannedInvoices;
  readonly consolidated: FoundConsolidations;
}

/** All that is needed of PostgreSQL to compute the drafts of these places. */
export async function planPlaces(
  context: SnapshotContext,
  places: readonly (DraftPlace | ConsolidatedPlace)[],
): Promise<PlannedPlaces> {
  const usage = places.flatMap((place) => (place.kind === 'usage' ? [place.target] : []));
  const scheduled = places.flatMap((place) => (place.kind === 'scheduled' ? [place.target] : []));
  const targets = places.flatMap((place) => (place.kind === 'consolidated' ? [place.target] : []));
  const plan = { usageIn: context };
  return {
    places,
    scheduled: await scheduledOf(context, scheduled),
    planned: await planInvoices(context.db, withOpenParts(usage, targets), context.clock.now(), plan),
    consolidated: await findConsolidations(context.db, targets),
  };
}

/** The drafts in the order of their places; true-ups without a shortfall are left out. */
export async function computePlaces(
  context: BillingContext,
  { places, scheduled, planned, consolidated }: PlannedPlaces,
): Promise<InvoiceWithWarnings[]> {
  const countedUpTo = await draftMoment(context.eventFacts, planned);
  const computed = (await computeDrafts(context, planned, countedUpTo)).map(draftWithWarnings);
  const drafts = [...scheduled, ...computed, ...consolidatedDrafts(consolidated, computed)];
  const byId = new Map(drafts.map((draft) => [draft.id, draft]));
  return places.flatMap(({ id }) => byId.get(id) ?? []);
}

/** The places of the next drafts, at most `limit`, and of all customers read at once. */
async function nextPlaces(
  context: SnapshotContext,
  filter: DraftListFilter,
  { after, limit, order, customersMax }: Step,
): Promise<FoundPlaces> {
  const customers = await billedCustomers(context.db, {
    ids: await askedCustomers(context.db, filter),
    from: after?.customer ?? null,
    limit: customersMax,
  });
  const rank = new Map(customers.map((customer, index) => [customer.id, { customer, index }]));
  const all = await loadContracts(context.db, { customerIds: [...rank.keys()] });
  const contracts = all.filter(({ id }) => filter.contractId === undefined || id === filter.contractId);
  const drafts = [
    ...(await draftPlacesOf(context, contracts, filter)),
    ...(filter.withoutConsolidated === true ? [] : await consolidatedPlaces(context, contracts, filter)),
  ];
  const inOrder = byPosition(order);
  const behind = drafts
    .flatMap((place) => {
      const found = rank.get(place.target.contract.customerId);
      return found === undefined ? [] : [{ ...place, ...found }];
    })
    .filter((place) => isBehind(place, after, order))
    .sort((a, b) => a.index - b.index || inOrder(a, b));
  const places = behind.slice(0, limit);
  const [last, lastCustomer] = [places.at(-1), customers.at(-1)];
  if (behind.length > limit && last !== undefined)
    return {
      places,
      customers: 0,
      next: { customer: last.customer, draft: { id: last.id, issuedAt: last.issuedAt } },
    };
  const isEnd = customers.length < customersMax || lastCustomer === undefined;
  return {
    places,
    customers: customers.length,
    next: isEnd ? null : { customer: lastCustomer, draft: null },
  };
}

function isBehind(
  place: ListedPlace,
  after: DraftPosition | null,
  order: DraftPageRequest['order'],
): boolean {
  if (after === null || place.customer.id !== after.customer.id) return true;
  const { draft } = after;
  return draft !== null && isBeyond(place, { after: { at: draft.issuedAt, id: draft.id }, order, limit: 1 });
}

/** Null: all of them. */
async function askedCustomers(
  db: Database | Transaction,
  { customerId, customerIds, contractId }: DraftListFilter,
): Promise<readonly string[] | null> {
  if (contractId === undefined) return customerId === undefined ? (customerIds ?? null) : [customerId];
  const contract = await findContract(db, contractId);
  if (contract === null) return [];
  return customerId === undefined || customerId === contract.customerId ? [contract.customerId] : [];
}
