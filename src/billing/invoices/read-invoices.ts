/**
 * Reads invoices: issued ones from the store, and a computed draft for every period that has started and is not
 * issued.
 */
import type { Clock } from '../../core/clock.ts';
import { assert, notFound } from '../../core/errors.ts';
import type { InvoiceStatus, InvoiceType } from '../../core/invoice.ts';
import { cutPage, type Page } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import { loadContracts } from '../../store/contracts.ts';
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

/**
 * A page of a customer's invoices by issue date (drafts by their expected one) and id. Throws `Refusal`
 * not_found for an unknown customer.
 */
export async function listInvoices(
  deps: InvoiceDeps,
  filter: InvoiceListFilter,
  page: InvoicePageRequest,
): Promise<Page<InvoiceWithWarnings>> {
  const { issued, drafts } = await inSnapshot(deps.db, async (db) => {
    await requireCustomer(db, filter.customerId);
    return findPage({ ...deps, db }, filter, page);
  });
  const computed = await computeDrafts(deps, drafts);
  const found = [...issued, ...computed.map(draftWithWarnings)].sort(byPosition(page.order));
  return cutPage(found, page.limit, ({ issuedAt, id }) => ({ at: issuedAt, id }));
}

/** The invoices of the page and one more, before drafts are computed. */
async function findPage(
  deps: SnapshotDeps,
  filter: InvoiceListFilter,
  page: InvoicePageRequest,
): Promise<{ readonly issued: readonly InvoiceWithWarnings[]; readonly drafts: PlannedInvoices }> {
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
  const targets = open.filter(({ id }) => ids.has(id)).map(({ target }) => target);
  return {
    issued: await issuedWithWarnings(deps.db, issued),
    drafts: await planInvoices(deps.db, targets),
  };
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
  // One snapshot: an invoice that is being finalized is either a draft or issued.
  const { issued, drafts } = await inSnapshot(deps.db, async (db) => {
    await requireCustomer(db, customerId);
    const found = await findInvoice(db, customerId, invoiceId);
    const open = found === null ? await openTargets({ ...deps, db }, { customerId }) : [];
    const own = open.filter(
      ({ contract, period }) => usageInvoiceId(contract.id, period.start) === invoiceId,
    );
    return { issued: found, drafts: await planInvoices(db, own) };
  });
  if (issued !== null) return issuedWithUnbilledUsage(deps, issued);
  const [draft] = await computeUsageInvoices(deps, drafts, null);
  if (draft === undefined) throw notFound('invoice', invoiceId);
  return { ...draftWithWarnings(draft), lateUsage: undefined };
}

/** A voided invoice bills nothing, so it has no unbilled usage. */
async function issuedWithUnbilledUsage(
  deps: InvoiceDeps,
  issued: IssuedInvoice,
): Promise<InvoiceWithUnbilledUsage> {
  const [shown] = await issuedWithWarnings(deps.db, [issued]);
  assert(shown !== undefined, 'an invoice is shown as one');
  if (issued.status === 'VOID') return { ...shown, lateUsage: undefined };
  const late = await findLateUsage(deps, issued);
  return { ...shown, lateUsage: late === null ? null : firstOf(late) };
}

/** The contracts and periods whose invoice is a draft now. */
async function openTargets(
  deps: SnapshotDeps,
  filter: Pick<InvoiceListFilter, 'customerId' | 'contractId'>,
): Promise<InvoiceTarget[]> {
  const all = await loadContracts(deps.db, { customerIds: [filter.customerId] });
  const contracts = all.filter(({ id }) => filter.contractId === undefined || id === filter.contractId);
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
export interface DraftPlace extends Placed {
  readonly target: InvoiceTarget;
}

/** The list positions of the drafts that pass the filter, before they are computed. */
export async function draftPlaces(deps: SnapshotDeps, filter: InvoiceListFilter): Promise<DraftPlace[]> {
  const targets = (await openTargets(deps, filter)).filter(
    ({ period }) =>
      (filter.startingOn === undefined || period.start >= filter.startingOn) &&
      (filter.endingBefore === undefined || period.end <= filter.endingBefore),
  );
  const inCurrency = await currencyFilter(deps.db, targets, filter.creditTypeId);
  return targets.filter(inCurrency).map((target) => ({
    target,
    id: usageInvoiceId(target.contract.id, target.period.start),
    issuedAt: finalizationAt(target.period, deps.gracePeriodHours),
  }));
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
