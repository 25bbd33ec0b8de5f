/**
 * Breakdowns of invoices by hour or day. A draft's windows are computed with its lines; an issued invoice's
 * windows were stored with it. One function turns both into items, so windows always add up to their invoice.
 */
import { groupBy } from '../../core/group-by.ts';
import type { Invoice, InvoiceLine, InvoiceStatus, LineWindow } from '../../core/invoice.ts';
import { cutPage, type Page, type PageRequest } from '../../core/paging.ts';
import { DAY_MS, floorToDay, floorToHour, HOUR_MS, type Instant, type Interval } from '../../core/time.ts';
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
import { inSnapshot } from '../../store/database.ts';
import {
  type InvoicePageRequest,
  type IssuedInvoice,
  listInvoiceHeadsOverlapping,
  withLines,
} from '../../store/invoices.ts';
import { computeUsageInvoices, type PlannedInvoices, planInvoices } from './compute.ts';
import {
  type DraftPlace,
  draftPlaces,
  type InvoiceDeps,
  requireCustomer,
  type SnapshotDeps,
} from './read-invoices.ts';
import { scheduledDrafts } from './scheduled/drafts.ts';

/** One window of one invoice: the invoice's header with the lines and the total of the window. */
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
  /** Of the window. */
  readonly start: Instant;
  /** When the invoice is issued. */
  readonly at: Instant;
  readonly id: string;
}

export interface BreakdownPageRequest extends PageRequest<BreakdownPosition> {
  readonly order: InvoicePageRequest['order'];
}

/** An invoice with windows in the range, before its lines are computed or read. */
type Source = { readonly draft: DraftPlace } | { readonly head: Omit<IssuedInvoice, 'lines'> };

/** Every invoice in the range has at least one window, so this many invoices fill any page. */
const ISSUED_MAX = 1_000;

interface Place extends BreakdownPosition {
  readonly window: Interval;
  readonly source: Source;
}

/**
 * A page of breakdown windows, including empty ones. The windows of the page are selected first, so that only
 * their invoices are computed. Refuses an unknown customer (`not_found`).
 */
export async function listBreakdowns(
  deps: InvoiceDeps,
  filter: BreakdownFilter,
  page: BreakdownPageRequest,
): Promise<Page<BreakdownItem, BreakdownPosition>> {
  const compare = byPosition(page.order);
  const { scheduled, drafts, issued } = await inSnapshot(deps.db, async (db) => {
    await requireCustomer(db, filter.customerId);
    return findPage({ ...deps, db }, filter, page);
  });
  const items = [
    ...scheduled,
    ...(await draftItems(deps, drafts, filter.size)),
    ...(await issuedItems(deps, issued, filter.size)),
  ];
  items.sort((a, b) => compare(positionOf(a), positionOf(b)));
  return cutPage(items, page.limit, positionOf);
}

interface FoundPage {
  readonly scheduled: readonly BreakdownItem[];
  /** Drafts of usage invoices; `own` are the places of each in turn. */
  readonly drafts: { readonly planned: PlannedInvoices; readonly own: readonly (readonly Place[])[] };
  readonly issued: readonly { readonly invoice: IssuedInvoice; readonly own: readonly Place[] }[];
}

async function findPage(
  deps: SnapshotDeps,
  filter: BreakdownFilter,
  page: BreakdownPageRequest,
): Promise<FoundPage> {
  const compare = byPosition(page.order);
  const { after } = page;
  const places = (await findSources(deps, filter, page))
    .flatMap((source) => placesOf(source, filter))
    .filter((place) => after === null || compare(place, after) > 0)
    .sort(compare)
    .slice(0, page.limit + 1);
  const bySource = [...groupBy(places, (place) => place.source)];
  const drafts = bySource.flatMap(([source, own]) =>
    'draft' in source && source.draft.kind === 'usage' ? [{ target: source.draft.target, own }] : [],
  );
  const heads = bySource.flatMap(([source, own]) => ('head' in source ? [{ head: source.head, own }] : []));
  const invoices = await withLines(
    deps.db,
    heads.map(({ head }) => head),
  );
  return {
    scheduled: await scheduledItemsOf(deps, bySource),
    drafts: {
      planned: await planInvoices(
        deps.db,
        drafts.map(({ target }) => target),
      ),
      own: drafts.map(({ own }) => own),
    },
    issued: invoices.map((invoice, index) => ({ invoice, own: heads[index]?.own ?? [] })),
  };
}

function positionOf({ window, issuedAt, id }: BreakdownItem): BreakdownPosition {
  return { start: window.start, at: issuedAt, id };
}

async function findSources(
  deps: SnapshotDeps,
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
  return [...heads.map((head) => ({ head })), ...drafts.map((draft) => ({ draft }))];
}

/** The rest of the range after the cursor. */
function rangeFrom(range: Interval, { after, order }: BreakdownPageRequest): Interval {
  if (after === null) return range;
  return order === 'ascending'
    ? { start: Math.max(range.start, after.start), end: range.end }
    : { start: range.start, end: Math.min(range.end, after.start + DAY_MS) };
}

/** A SCHEDULED invoice has one window: that which contains its date. */
function boundariesOf(source: Source, size: WindowSize): Instant[] {
  if ('head' in source) {
    const { type, period } = source.head;
    return type === 'SCHEDULED' ? windowAt(period.start, size) : windowBoundaries(period, size);
  }
  const { draft } = source;
  return draft.kind === 'scheduled'
    ? windowAt(draft.target.at, size)
    : windowBoundaries(draft.target.period, size);
}

function windowAt(at: Instant, size: WindowSize): Instant[] {
  const start = size === 'day' ? floorToDay(at) : floorToHour(at);
  return [start, start + (size === 'day' ? DAY_MS : HOUR_MS)];
}

function placesOf(source: Source, { range, size }: BreakdownFilter): Place[] {
  const { id, issuedAt } = 'draft' in source ? source.draft : source.head;
  const boundaries = boundariesOf(source, size);
  const places: Place[] = [];
  for (const [index, end] of boundaries.entries()) {
    const start = boundaries[index - 1];
    if (start === undefined || start < range.start || end > range.end) continue;
    places.push({ id, at: issuedAt, start, window: { start, end }, source });
  }
  return places;
}

function byPosition(order: BreakdownPageRequest['order']) {
  const sign = order === 'ascending' ? 1 : -1;
  return (a: BreakdownPosition, b: BreakdownPosition) =>
    sign * (a.start - b.start || a.at - b.at || (a.id < b.id ? -1 : Number(a.id > b.id)));
}

async function draftItems(
  deps: InvoiceDeps,
  { planned, own }: FoundPage['drafts'],
  size: WindowSize,
): Promise<BreakdownItem[]> {
  const computed = await computeUsageInvoices(deps, planned, size, own.map(timeOf));
  // Windows have no warnings, so they cannot say that something is missing.
  const [problem] = computed.flatMap(({ problems }) => problems);
  if (problem !== undefined) throw problem;
  return computed.flatMap(({ invoice }, index) => {
    const places = own[index] ?? [];
    const starts = new Set(places.map(({ start }) => start));
    const shown = lineWindows(invoice.lines).filter(({ window }) => starts.has(window.start));
    return windowItems(invoice, shown, size, places);
  });
}

/** From the first to the last window of the page. */
function timeOf(places: readonly Place[]): Interval {
  return {
    start: Math.min(...places.map(({ window }) => window.start)),
    end: Math.max(...places.map(({ window }) => window.end)),
  };
}

/** The drafts of SCHEDULED invoices, each in the window of its date. */
async function scheduledItemsOf(
  deps: SnapshotDeps,
  bySource: readonly (readonly [Source, readonly Place[]])[],
): Promise<BreakdownItem[]> {
  const found = bySource.flatMap(([source, own]) =>
    'draft' in source && source.draft.kind === 'scheduled' ? [{ target: source.draft.target, own }] : [],
  );
  const drafts = await scheduledDrafts(
    deps.db,
    found.map(({ target }) => target),
    deps.clock.now(),
  );
  return drafts.flatMap((draft, index) => wholeItems(draft, found[index]?.own ?? []));
}

/** An invoice with all its lines in one window. */
function wholeItems(invoice: Invoice, places: readonly Place[]): BreakdownItem[] {
  return places.map(({ window }) => ({ ...invoice, window }));
}

async function issuedItems(
  deps: InvoiceDeps,
  issued: FoundPage['issued'],
  size: WindowSize,
): Promise<BreakdownItem[]> {
  const shown = issued.flatMap(({ own }) => own.map(({ window }) => window));
  const hours = await readFrozenLines(
    deps.clickhouse,
    issued.flatMap(({ invoice }) => invoice.frozen?.breakdownId ?? []),
    {
      start: Math.min(...shown.map(({ start }) => start)),
      end: Math.max(...shown.map(({ end }) => end)),
    },
  );
  return issued.flatMap(({ invoice, own }) =>
    invoice.frozen === null
      ? wholeItems(invoice, own)
      : windowItems(invoice, hours.get(invoice.frozen.breakdownId) ?? [], size, own),
  );
}

/** The invoice cut into windows, of which the page shows those at `places`. */
function windowItems(
  invoice: Invoice,
  windows: readonly LineWindow[],
  size: WindowSize,
  places: readonly Place[],
): BreakdownItem[] {
  const shown = new Set(places.map(({ start }) => start));
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
