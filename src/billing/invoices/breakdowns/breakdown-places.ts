/**
 * The windows of a page of breakdowns, with their invoices. They are determined first, so that only these invoices are
 * computed or read.
 */
import { groupBy } from '../../../core/group-by.ts';
import { resultInChunks } from '../../../core/in-chunks.ts';
import type { InvoiceStatus } from '../../../core/invoice.ts';
import { cutPage, type PageRequest } from '../../../core/paging.ts';
import { sortedInSteps } from '../../../core/sort-in-steps.ts';
import { DAY_MS, floorToDay, floorToHour, HOUR_MS, type Instant, type Interval } from '../../../core/time.ts';
import { type WindowSize, windowsDownFrom, windowsFrom } from '../../../rating/invoices/breakdown.ts';
import {
  type InvoicePageRequest,
  listInvoiceHeadsOverlapping,
  type ScheduledDate,
} from '../../../store/invoices/invoice-lists.ts';
import type { IssuedHead, IssuedInvoice } from '../../../store/invoices/invoices.ts';
import { withLines } from '../../../store/invoices/whole-invoices.ts';
import type { SnapshotContext } from '../../billing-context.ts';
import type { ScheduledTarget } from '../../invoice-queue/open-items.ts';
import { type PlannedInvoices, planInvoices } from '../compute/plan-invoices.ts';
import { type DraftPlace, draftPlaces } from '../drafts/draft-places.ts';

type BreakdownSize = WindowSize | 'none';

export interface BreakdownFilter {
  readonly customerId: string;
  /** Windows that lie within this range. */
  readonly range: Interval;
  /** `none`: the whole invoice is one window. */
  readonly size: BreakdownSize;
  readonly status?: InvoiceStatus | undefined;
  /** Without a status: whether voided invoices are excluded. */
  readonly withoutVoid?: boolean;
  /** The date that determines the window of a SCHEDULED invoice; `schedule` by default. */
  readonly scheduledBy?: ScheduledDate;
  readonly creditTypeId?: string | undefined;
}

/** Items are ordered by the start of their window, then by issue date and id of their invoice. */
export interface BreakdownPosition {
  /** The start of the window. */
  readonly start: Instant;
  /** When the invoice is issued. */
  readonly at: Instant;
  readonly id: string;
}

export interface BreakdownPageRequest extends PageRequest<BreakdownPosition> {
  readonly order: InvoicePageRequest['order'];
}

/** An invoice with windows in the range, before its lines are computed or read. */
type Source = { readonly draft: DraftPlace } | { readonly head: IssuedHead };

/** Every invoice in the range has at least one window, so this many invoices fill any page. */
const ISSUED_MAX = 1_000;

export interface Place extends BreakdownPosition {
  readonly window: Interval;
  readonly source: Source;
}

export interface FoundBreakdowns {
  /** Based on places: a true-up without a shortfall has a place and is no invoice. */
  readonly next: BreakdownPosition | null;
  /** Drafts of SCHEDULED invoices. */
  readonly scheduled: readonly { readonly target: ScheduledTarget; readonly own: readonly Place[] }[];
  readonly drafts: {
    /** Drafts of usage invoices; `own` are the places of each, in order. */
    readonly planned: PlannedInvoices;
    readonly own: readonly (readonly Place[])[];
    /** Drafts that were computed for an earlier page of the same answer. */
    readonly kept: readonly { readonly id: string; readonly own: readonly Place[] }[];
  };
  readonly issued: readonly { readonly invoice: IssuedInvoice; readonly own: readonly Place[] }[];
}

/** The windows of the page. `isKept`: whether the draft was computed before, including these places. */
export async function findBreakdowns(
  context: SnapshotContext,
  filter: BreakdownFilter,
  page: BreakdownPageRequest,
  isKept: (id: string, places: readonly Place[]) => boolean = () => false,
): Promise<FoundBreakdowns> {
  const sources = await findSources(context, filter, page);
  const first = await resultInChunks(firstPlaces(sources, filter, page));
  const { rows: places, next } = cutPage(first, page.limit, ({ start, at, id }) => ({ start, at, id }));
  const bySource = [...groupBy(places, (place) => place.source)];
  const usage = bySource.flatMap(([source, own]) =>
    'draft' in source && source.draft.kind === 'usage'
      ? [{ target: source.draft.target, id: source.draft.id, own, isKept: isKept(source.draft.id, own) }]
      : [],
  );
  const drafts = usage.filter((draft) => !draft.isKept);
  const heads = bySource.flatMap(([source, own]) => ('head' in source ? [{ head: source.head, own }] : []));
  const invoices = await withLines(
    context.db,
    heads.map(({ head }) => head),
  );
  return {
    next,
    scheduled: bySource.flatMap(([source, own]) =>
      'draft' in source && source.draft.kind === 'scheduled' ? [{ target: source.draft.target, own }] : [],
    ),
    drafts: {
      planned: await planInvoices(
        context.db,
        drafts.map(({ target }) => target),
        context.clock.now(),
        { usageIn: context },
      ),
      own: drafts.map(({ own }) => own),
      kept: usage.filter((draft) => draft.isKept),
    },
    issued: invoices.map((invoice, index) => ({ invoice, own: heads[index]?.own ?? [] })),
  };
}

async function findSources(
  context: SnapshotContext,
  filter: BreakdownFilter,
  page: BreakdownPageRequest,
): Promise<Source[]> {
  const { customerId, status, creditTypeId, withoutVoid = false, scheduledBy = 'schedule' } = filter;
  const [drafts, heads] = await Promise.all([
    status === undefined || status === 'DRAFT' ? draftPlaces(context, { customerId, creditTypeId }) : [],
    status === 'DRAFT'
      ? []
      : listInvoiceHeadsOverlapping(
          context.db,
          { customerId, status, creditTypeId },
          rangeFrom(filter.range, page),
          { order: page.order, limit: Math.max(ISSUED_MAX, page.limit + 1), scheduledBy },
        ),
  ]);
  const shown = heads.filter((head) => !(withoutVoid && status === undefined && head.status === 'VOID'));
  return [...shown.map((head) => ({ head })), ...drafts.map((draft) => ({ draft }))];
}

/** The rest of the range after the cursor. */
function rangeFrom(range: Interval, { after, order }: BreakdownPageRequest): Interval {
  if (after === null) return range;
  return order === 'ascending'
    ? { start: Math.max(range.start, after.start), end: range.end }
    : { start: range.start, end: Math.min(range.end, after.start + DAY_MS) };
}

/** A SCHEDULED invoice has one window: the one that contains its date. */
function windowsOf(source: Source, filter: BreakdownFilter, { after, order }: BreakdownPageRequest) {
  const { period, date } = timeOfSource(source, filter);
  const { size, range } = filter;
  if (date !== null) return [windowAt(date, size)];
  if (size === 'none') return [period];
  return order === 'ascending'
    ? windowsFrom(period, size, Math.max(range.start, after?.start ?? range.start))
    : windowsDownFrom(period, size, Math.min(range.end, after?.start ?? range.end));
}

/** `date`: the date of a SCHEDULED invoice, else null. */
function timeOfSource(
  source: Source,
  { scheduledBy }: BreakdownFilter,
): { readonly period: Interval; readonly date: Instant | null } {
  const isByIssue = scheduledBy === 'issue';
  if ('head' in source) {
    const { type, period, issuedAt } = source.head;
    return { period, date: type === 'SCHEDULED' ? (isByIssue ? issuedAt : period.start) : null };
  }
  const { draft } = source;
  if (draft.kind === 'usage') return { period: draft.target.period, date: null };
  const { at } = draft.target;
  return { period: { start: at, end: at }, date: isByIssue ? draft.issuedAt : at };
}

function windowAt(at: Instant, size: BreakdownSize): Interval {
  const start = size === 'day' ? floorToDay(at) : floorToHour(at);
  return { start, end: start + (size === 'day' ? DAY_MS : HOUR_MS) };
}

/** The requested places of one source, from the cursor on, in the order of the page. */
function* placesOf(
  source: Source,
  filter: BreakdownFilter,
  page: BreakdownPageRequest,
): Generator<Place, void, undefined> {
  const { id, issuedAt } = 'draft' in source ? source.draft : source.head;
  const compare = byWindow(page.order);
  const { range } = filter;
  for (const window of windowsOf(source, filter, page)) {
    const place = { id, at: issuedAt, start: window.start, window, source };
    const isAsked = window.start >= range.start && window.end <= range.end;
    if (isAsked && (page.after === null || compare(place, page.after) > 0)) yield place;
    else if (isBeyond(window, range, page.order)) return;
  }
}

function isBeyond({ start, end }: Interval, range: Interval, order: BreakdownPageRequest['order']): boolean {
  return order === 'ascending' ? end > range.end : start < range.start;
}

/**
 * One more than the page size, which shows whether there is a further page. A customer may have thousands of invoices
 * with hundreds of windows each, so only the next window of each invoice is generated.
 */
function* firstPlaces(
  sources: readonly Source[],
  filter: BreakdownFilter,
  page: BreakdownPageRequest,
): Generator<void, Place[], undefined> {
  const compare = byWindow(page.order);
  const nexts: Next[] = [];
  for (const source of sources) {
    const rest = placesOf(source, filter, page);
    const place = rest.next().value;
    if (place !== undefined) nexts.push({ place, rest });
    yield;
  }
  const sorted = yield* sortedInSteps(nexts, (a, b) => compare(a.place, b.place));
  const places: Place[] = [];
  while (places.length <= page.limit) {
    const first = sorted.shift();
    if (first === undefined) return places;
    places.push(first.place);
    const place = first.rest.next().value;
    if (place !== undefined) addInOrder(sorted, { place, rest: first.rest }, compare);
    yield;
  }
  return places;
}

/** The next place of a source, and the following ones. */
interface Next {
  readonly place: Place;
  readonly rest: Generator<Place, void, undefined>;
}

function addInOrder(sorted: Next[], added: Next, compare: (a: Place, b: Place) => number): void {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const other = sorted[middle];
    if (other !== undefined && compare(other.place, added.place) < 0) from = middle + 1;
    else to = middle;
  }
  sorted.splice(from, 0, added);
}

/** By the start of the window, issue date and id. */
export function byWindow(order: BreakdownPageRequest['order']) {
  const sign = order === 'ascending' ? 1 : -1;
  return (a: BreakdownPosition, b: BreakdownPosition) =>
    sign * (a.start - b.start || a.at - b.at || (a.id < b.id ? -1 : Number(a.id > b.id)));
}

/** From the first to the last window of the page. */
export function timeOf(places: readonly Place[]): Interval {
  return {
    start: Math.min(...places.map(({ window }) => window.start)),
    end: Math.max(...places.map(({ window }) => window.end)),
  };
}
