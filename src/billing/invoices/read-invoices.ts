/**
 * Reads invoices: issued ones from the store, and a computed draft for every period that has started and is not
 * issued.
 */
import type { Clock } from '../../core/clock.ts';
import { assert, notFound } from '../../core/errors.ts';
import type { Invoice, InvoiceStatus, InvoiceType } from '../../core/invoice.ts';
import { cutPage, type Page } from '../../core/paging.ts';
import type { Instant, Interval } from '../../core/time.ts';
import { type Contract, loadContracts } from '../../store/contracts.ts';
import { findCustomer } from '../../store/customers.ts';
import { type Database, inSnapshot, type Transaction } from '../../store/database.ts';
import {
  findInvoice,
  type InvoicePageRequest,
  type IssuedInvoice,
  lastIssuedPeriodEnds,
  listInvoiceHeads,
  withLines,
} from '../../store/invoices.ts';
import { loadRateCards } from '../../store/rate-cards.ts';
import {
  type ComputeDeps,
  computeDrafts,
  computeUsageInvoices,
  type PlannedInvoices,
  planInvoices,
} from './compute.ts';
import { findLateUsage } from './late-usage.ts';
import { scheduledDrafts } from './scheduled/drafts.ts';
import { loadOpenSchedules, type ScheduledTarget } from './scheduled/open-items.ts';
import {
  draftWithWarnings,
  firstOf,
  type InvoiceWithUnbilledUsage,
  type InvoiceWithWarnings,
  issuedWithWarnings,
} from './unbilled-usage.ts';
import { finalizationAt, type InvoiceTarget, openPeriods, usageInvoiceId } from './usage-periods.ts';

export interface InvoiceDeps extends ComputeDeps {
  readonly db: Database;
}

/** Drafts and issued invoices are read from one snapshot. */
export interface SnapshotDeps {
  readonly db: Transaction;
  readonly clock: Clock;
  readonly gracePeriodHours: number;
}

export interface InvoiceListFilter {
  readonly customerId: string;
  readonly contractId?: string | undefined;
  readonly status?: InvoiceStatus | undefined;
  readonly type?: InvoiceType | undefined;
  readonly creditTypeId?: string | undefined;
  /** Only billing periods that start at or after this. */
  readonly startingOn?: Instant | undefined;
  /** Only billing periods that end at or before this. */
  readonly endingBefore?: Instant | undefined;
}

/** Which drafts of given contracts are listed. */
type DraftFilter = Pick<InvoiceListFilter, 'type' | 'creditTypeId' | 'startingOn' | 'endingBefore'>;

/**
 * A page of a customer's invoices by issue date (drafts by their expected one) and id. Throws `Refusal`
 * not_found for an unknown customer.
 */
export async function listInvoices(
  deps: InvoiceDeps,
  filter: InvoiceListFilter,
  page: InvoicePageRequest,
): Promise<Page<InvoiceWithWarnings>> {
  const { stored, drafts } = await inSnapshot(deps.db, async (db) => {
    await requireCustomer(db, filter.customerId);
    return findPage({ ...deps, db }, filter, page);
  });
  const computed = await computeDrafts(deps, drafts);
  const found = [...stored, ...computed.map(draftWithWarnings)].sort(byPosition(page.order));
  return cutPage(found, page.limit, ({ issuedAt, id }) => ({ at: issuedAt, id }));
}

interface FoundPage {
  /** Issued invoices, and drafts of SCHEDULED ones. */
  readonly stored: readonly InvoiceWithWarnings[];
  /** Of usage invoices. */
  readonly drafts: PlannedInvoices;
}

/** The invoices of the page and one more, before drafts of usage are computed. */
async function findPage(
  deps: SnapshotDeps,
  filter: InvoiceListFilter,
  page: InvoicePageRequest,
): Promise<FoundPage> {
  const limit = page.limit + 1;
  const wantsDrafts = filter.status === undefined || filter.status === 'DRAFT';
  const places = wantsDrafts ? await draftPlaces(deps, filter) : [];
  const heads = await storedHeads(deps, filter, { ...page, limit });
  const open = places.filter((place) => isBeyond(place, page));
  const first = [...heads, ...open].sort(byPosition(page.order)).slice(0, limit);
  const ids = new Set(first.map(({ id }) => id));
  const issued = await withLines(
    deps.db,
    heads.filter(({ id }) => ids.has(id)),
  );
  const own = open.filter(({ id }) => ids.has(id));
  return {
    stored: [
      ...(await issuedWithWarnings(deps.db, issued)),
      ...(await scheduledOf(
        deps,
        own.flatMap((place) => (place.kind === 'scheduled' ? [place.target] : [])),
      )),
    ],
    drafts: await planInvoices(
      deps.db,
      own.flatMap((place) => (place.kind === 'usage' ? [place.target] : [])),
    ),
  };
}

async function scheduledOf(
  deps: SnapshotDeps,
  targets: readonly ScheduledTarget[],
): Promise<InvoiceWithWarnings[]> {
  const drafts = await scheduledDrafts(deps.db, targets, deps.clock.now());
  return drafts.map((draft) => ({ ...draft, warnings: firstOf([]) }));
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

/** The contracts and periods whose invoice is a draft now. */
async function openTargets(deps: SnapshotDeps, contracts: readonly Contract[]): Promise<InvoiceTarget[]> {
  const issuedUntil = await lastIssuedPeriodEnds(
    deps.db,
    contracts.map(({ id }) => id),
  );
  const now = deps.clock.now();
  return contracts.flatMap((contract) =>
    openPeriods(contract, issuedUntil.get(contract.id), now).map((period) => ({ contract, period })),
  );
}

export async function requireCustomer(db: Database | Transaction, customerId: string): Promise<void> {
  if ((await findCustomer(db, customerId)) === null) throw notFound('customer', customerId);
}

/** The position of an invoice in lists. A draft has its expected issue date. */
interface Placed {
  readonly id: string;
  readonly issuedAt: Instant;
}

/** A draft's place in a list, before it is computed. */
export type DraftPlace = Placed &
  (
    | { readonly kind: 'usage'; readonly target: InvoiceTarget }
    | { readonly kind: 'scheduled'; readonly target: ScheduledTarget }
  );

/** The list positions of the drafts that pass the filter, before they are computed. */
export async function draftPlaces(deps: SnapshotDeps, filter: InvoiceListFilter): Promise<DraftPlace[]> {
  const all = await loadContracts(deps.db, { customerIds: [filter.customerId] });
  const contracts = all.filter(({ id }) => filter.contractId === undefined || id === filter.contractId);
  return draftPlacesOf(deps, contracts, filter);
}

/** The same for contracts of any customers. */
export async function draftPlacesOf(
  deps: SnapshotDeps,
  contracts: readonly Contract[],
  filter: DraftFilter,
): Promise<DraftPlace[]> {
  return [
    ...(filter.type === 'SCHEDULED' ? [] : await usagePlaces(deps, contracts, filter)),
    ...(filter.type === 'USAGE' ? [] : await scheduledPlaces(deps, contracts, filter)),
  ];
}

async function usagePlaces(
  deps: SnapshotDeps,
  contracts: readonly Contract[],
  filter: DraftFilter,
): Promise<DraftPlace[]> {
  const targets = (await openTargets(deps, contracts)).filter(({ period }) => isInTime(period, filter));
  const inCurrency = await currencyFilter(deps.db, targets, filter.creditTypeId);
  return targets.filter(inCurrency).map((target) => ({
    kind: 'usage',
    target,
    id: usageInvoiceId(target.contract.id, target.period.start),
    issuedAt: finalizationAt(target.period, deps.gracePeriodHours),
  }));
}

/** All of them, also those of the future: they are drafts from the moment their schedule exists. */
async function scheduledPlaces(
  deps: SnapshotDeps,
  contracts: readonly Contract[],
  filter: DraftFilter,
): Promise<DraftPlace[]> {
  const schedules = await loadOpenSchedules(deps.db, contracts);
  return [...schedules.values()]
    .flatMap(({ targets }) => targets)
    .filter(
      ({ at, creditTypeId }) =>
        isInTime({ start: at, end: at }, filter) &&
        (filter.creditTypeId === undefined || filter.creditTypeId === creditTypeId),
    )
    .map((target) => ({ kind: 'scheduled', target, id: target.invoiceId, issuedAt: target.issueAt }));
}

function isInTime({ start, end }: Interval, { startingOn, endingBefore }: DraftFilter): boolean {
  return (
    (startingOn === undefined || start >= startingOn) && (endingBefore === undefined || end <= endingBefore)
  );
}

async function currencyFilter(
  db: Database | Transaction,
  targets: readonly InvoiceTarget[],
  creditTypeId: string | undefined,
): Promise<(target: InvoiceTarget) => boolean> {
  if (creditTypeId === undefined) return () => true;
  const cards = await loadRateCards(
    db,
    targets.flatMap(({ contract }) => contract.rateCardId ?? []),
  );
  return ({ contract }) => cards.get(contract.rateCardId ?? '')?.fiatCreditTypeId === creditTypeId;
}

async function storedHeads(
  deps: SnapshotDeps,
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
    periodStartsFrom: filter.startingOn,
    periodEndsBy: filter.endingBefore,
  };
  return listInvoiceHeads(deps.db, stored, page);
}

type Comparison = (a: Placed, b: Placed) => number;

function byPosition(order: InvoicePageRequest['order']): Comparison {
  const sign = order === 'ascending' ? 1 : -1;
  return (a, b) => sign * (a.issuedAt - b.issuedAt || (a.id < b.id ? -1 : Number(a.id > b.id)));
}

function isBeyond(place: Placed, { after, order }: InvoicePageRequest): boolean {
  return after === null || byPosition(order)(place, { issuedAt: after.at, id: after.id }) > 0;
}
