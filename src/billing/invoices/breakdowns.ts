/**
 * Invoices over time: every window of an hour or a day of every invoice. A draft's windows are computed
 * with its lines; an issued invoice's were frozen with it. Both go through the same function into the
 * same shape, so that windows add up to their invoice for ever.
 */
import { groupBy } from '../../core/group-by.ts';
import type { Invoice, InvoiceLine, InvoiceStatus, LineWindow } from '../../core/invoice.ts';
import type { Instant, Interval } from '../../core/time.ts';
import { readFrozenLines } from '../../metering/frozen-lines.ts';
import {
  type BreakdownLine,
  type BreakdownWindow,
  breakdownWindows,
  invoiceTotal,
  lineWindows,
  type WindowSize,
  windowBoundaries,
} from '../../rating/invoice/breakdown.ts';
import { type IssuedInvoice, listInvoiceHeadsOverlapping, withLines } from '../../store/invoices.ts';
import { computeUsageInvoices } from './compute.ts';
import {
  type DraftPlace,
  draftPlaces,
  type InvoiceDeps,
  type InvoicePageRequest,
  requireCustomer,
} from './read-invoices.ts';

/** One window of one invoice: the invoice's head with the lines and the total of the window. */
export interface BreakdownItem extends Invoice {
  readonly window: Interval;
}

export interface BreakdownFilter {
  readonly customerId: string;
  /** Windows that lie within this range. */
  readonly range: Interval;
  readonly size: WindowSize;
  readonly status?: InvoiceStatus | undefined;
  readonly creditTypeId?: string | undefined;
}

/** Items are ordered by the start of their window, then by issue date and id of their invoice. */
export interface BreakdownPosition {
  readonly windowStart: Instant;
  readonly issuedAt: Instant;
  readonly id: string;
}

export interface BreakdownPageRequest {
  readonly order: InvoicePageRequest['order'];
  readonly after: BreakdownPosition | null;
  readonly limit: number;
}

/** An invoice that has windows in the range, before anything of it is computed or read. */
type Source = { readonly draft: DraftPlace } | { readonly head: Omit<IssuedInvoice, 'lines'> };

/** Every invoice in the range has a window, so the nearest of this many fill any page. */
const ISSUED_MAX = 1_000;

interface Place extends BreakdownPosition {
  readonly window: Interval;
  readonly source: Source;
}

/**
 * A page of breakdown windows, empty ones too; one more than `limit` where there are more. Which windows
 * stand on the page is settled first, so that only their invoices are computed. Throws `Refusal`
 * not_found for an unknown customer.
 */
export async function listBreakdowns(
  deps: InvoiceDeps,
  filter: BreakdownFilter,
  page: BreakdownPageRequest,
): Promise<BreakdownItem[]> {
  await requireCustomer(deps.db, filter.customerId);
  const compare = byPosition(page.order);
  const { after } = page;
  const places = (await findSources(deps, filter, page))
    .flatMap((source) => placesOf(source, filter))
    .filter((place) => after === null || compare(place, after) > 0)
    .sort(compare)
    .slice(0, page.limit + 1);
  const bySource = groupBy(places, (place) => place.source);
  const items = [
    ...(await draftItems(deps, bySource, filter.size)),
    ...(await issuedItems(deps, bySource, filter.size)),
  ];
  return items.sort((a, b) => compare(itemPosition(a), itemPosition(b)));
}

export function itemPosition(item: BreakdownItem): BreakdownPosition {
  return { windowStart: item.window.start, issuedAt: item.issuedAt, id: item.id };
}

/** Drafts are looked up first: one that is issued meanwhile is then found twice, and never missed. */
async function findSources(
  deps: InvoiceDeps,
  filter: BreakdownFilter,
  page: BreakdownPageRequest,
): Promise<Source[]> {
  const { customerId, status, creditTypeId } = filter;
  const drafts =
    status === undefined || status === 'DRAFT' ? await draftPlaces(deps, { customerId, creditTypeId }) : [];
  const heads =
    status === 'DRAFT'
      ? []
      : await listInvoiceHeadsOverlapping(
          deps.db,
          { customerId, status, creditTypeId },
          rangeFrom(filter.range, page),
          { order: page.order, limit: ISSUED_MAX },
        );
  const issuedIds = new Set(heads.map(({ id }) => id));
  return [
    ...heads.map((head) => ({ head })),
    ...drafts.filter(({ id }) => !issuedIds.has(id)).map((draft) => ({ draft })),
  ];
}

/** What is left of the range behind the cursor. */
function rangeFrom(range: Interval, { after, order }: BreakdownPageRequest): Interval {
  if (after === null) return range;
  return order === 'ascending'
    ? { start: Math.max(range.start, after.windowStart), end: range.end }
    : { start: range.start, end: Math.min(range.end, after.windowStart + 1) };
}

function placesOf(source: Source, { range, size }: BreakdownFilter): Place[] {
  const { id, issuedAt } = 'draft' in source ? source.draft : source.head;
  const period = 'draft' in source ? source.draft.target.period : source.head.period;
  const boundaries = windowBoundaries(period, size);
  const places: Place[] = [];
  for (const [index, end] of boundaries.entries()) {
    const start = boundaries[index - 1];
    if (start === undefined || start < range.start || end > range.end) continue;
    places.push({ id, issuedAt, windowStart: start, window: { start, end }, source });
  }
  return places;
}

function byPosition(order: BreakdownPageRequest['order']) {
  const sign = order === 'ascending' ? 1 : -1;
  return (a: BreakdownPosition, b: BreakdownPosition) =>
    sign *
    (a.windowStart - b.windowStart || a.issuedAt - b.issuedAt || (a.id < b.id ? -1 : Number(a.id > b.id)));
}

async function draftItems(
  deps: InvoiceDeps,
  places: ReadonlyMap<Source, readonly Place[]>,
  size: WindowSize,
): Promise<BreakdownItem[]> {
  const drafts = [...places].flatMap(([source, own]) =>
    'draft' in source ? [{ ...source.draft, own }] : [],
  );
  const computed = await computeUsageInvoices(
    deps,
    drafts.map(({ target }) => target),
    size,
  );
  return computed.flatMap(({ invoice }, index) =>
    windowItems(invoice, lineWindows(invoice.lines), size, drafts[index]?.own ?? []),
  );
}

async function issuedItems(
  deps: InvoiceDeps,
  places: ReadonlyMap<Source, readonly Place[]>,
  size: WindowSize,
): Promise<BreakdownItem[]> {
  const heads = [...places].flatMap(([source, own]) =>
    'head' in source ? [{ head: source.head, own }] : [],
  );
  const shown = heads.flatMap(({ own }) => own.map(({ window }) => window));
  const invoices = await withLines(
    deps.db,
    heads.map(({ head }) => head),
  );
  const frozen = await readFrozenLines(
    deps.clickhouse,
    invoices.map(({ breakdownId }) => breakdownId),
    {
      start: Math.min(...shown.map(({ start }) => start)),
      end: Math.max(...shown.map(({ end }) => end)),
    },
  );
  return invoices.flatMap((invoice, index) =>
    windowItems(invoice, frozen.get(invoice.breakdownId) ?? [], size, heads[index]?.own ?? []),
  );
}

/** The invoice cut into windows, of which the page shows those at `places`. */
function windowItems(
  invoice: Invoice,
  windows: readonly LineWindow[],
  size: WindowSize,
  places: readonly Place[],
): BreakdownItem[] {
  const shown = new Set(places.map(({ windowStart }) => windowStart));
  return breakdownWindows(invoice.lines, windows, size, invoice.period)
    .filter(({ window }) => shown.has(window.start))
    .map((one) => windowItem(invoice, one));
}

function windowItem(invoice: Invoice, { window, lines }: BreakdownWindow): BreakdownItem {
  const shares = lines.map(lineShare);
  return { ...invoice, window, lines: shares, total: invoiceTotal(shares, invoice.creditTypeId) };
}

function lineShare({ line, quantity, total }: BreakdownLine): InvoiceLine {
  return { ...line, quantity, total };
}
