/**
 * Breakdowns of invoices by hour or day. A draft's windows are computed with its lines; an issued invoice's
 * windows were stored with it. One function turns both into items, so windows always add up to their invoice.
 */

import { resultAtOnce, resultInChunks } from '../../../core/in-chunks.ts';
import type { Invoice, InvoiceLine, LineWindow } from '../../../core/invoice.ts';
import { type Page, pageWithRows } from '../../../core/paging.ts';
import type { Interval } from '../../../core/time.ts';
import { readFrozenLines } from '../../../metering/frozen-lines/frozen-lines.ts';
import { beforeBalancesInSteps, type LinesBeforeBalances } from '../../../rating/invoices/before-balances.ts';
import {
  type BreakdownLine,
  type BreakdownWindow,
  breakdownWindowsInSteps,
  invoiceTotal,
  type WindowSize,
} from '../../../rating/invoices/breakdown.ts';
import { countMemory } from '../../../runtime/answer-memory.ts';
import { inSnapshot } from '../../../store/base/database.ts';
import type { BillingContext, SnapshotContext } from '../../billing-context.ts';
import { drawnScheduledDrafts } from '../drafts/drawn-drafts.ts';
import type { WithCard } from '../drafts/list-prices.ts';
import { withShortfalls } from '../drafts/shortfalls.ts';
import { requireCustomer } from '../read/read-invoices.ts';
import {
  type BreakdownFilter,
  type BreakdownPageRequest,
  type BreakdownPosition,
  byWindow,
  type FoundBreakdowns,
  findBreakdowns,
  type Place,
  timeOf,
} from './breakdown-places.ts';
import { draftsInWindows, isKeptIn, type PagesOfAnswer } from './drafts-in-windows.ts';

/** One window of one invoice: the invoice's header with the lines and the total of the window. */
export interface BreakdownItem extends Invoice, WithCard {
  readonly window: Interval;
}

interface ListedBreakdowns extends BreakdownFilter {
  readonly size: WindowSize;
  /** Whether windows without lines are excluded. */
  readonly withoutEmpty?: boolean;
  /** Whether lines and totals are those before commits and credits. */
  readonly isBeforeBalances?: boolean;
  /** Set if the answer has many pages, whose drafts are computed once. */
  readonly pages?: PagesOfAnswer;
}

/**
 * A page of breakdown windows. The windows of the page are determined first, so that only their invoices are computed.
 * A page has a row unless none follow (`pageWithRows`). Refuses an unknown customer (`not_found`).
 */
export async function listBreakdowns(
  context: BillingContext,
  filter: ListedBreakdowns,
  { order, ...page }: BreakdownPageRequest,
): Promise<Page<BreakdownItem, BreakdownPosition>> {
  return pageWithRows(page, (part) => readBreakdowns(context, filter, { ...part, order }), positionOf);
}

async function readBreakdowns(
  context: BillingContext,
  filter: ListedBreakdowns,
  page: BreakdownPageRequest,
): Promise<Page<BreakdownItem, BreakdownPosition>> {
  const compare = byWindow(page.order);
  const { scheduled, drafts, issued, next } = await inSnapshot(context.db, async (db) => {
    await requireCustomer(db, filter.customerId);
    const found = await findBreakdowns({ ...context, db }, filter, page, isKeptIn(filter.pages));
    return { ...found, scheduled: await scheduledItems({ ...context, db }, found.scheduled, filter) };
  });
  const rows = [
    ...scheduled,
    ...(await draftItems(context, drafts, filter, page.order)),
    ...(await issuedItems(context, issued, filter)),
  ];
  const shown = filter.withoutEmpty === true ? rows.filter(({ lines }) => lines.length > 0) : rows;
  return { rows: shown.sort((a, b) => compare(positionOf(a), positionOf(b))), next };
}

function positionOf({ window, issuedAt, id }: BreakdownItem): BreakdownPosition {
  return { start: window.start, at: issuedAt, id };
}

async function draftItems(
  context: BillingContext,
  found: FoundBreakdowns['drafts'],
  filter: ListedBreakdowns,
  order: BreakdownPageRequest['order'],
): Promise<BreakdownItem[]> {
  const drafts = await draftsInWindows(context, found, { size: filter.size, order }, filter.pages ?? null);
  const cut = drafts.map(({ invoice, terms, windows, own }) => {
    return { invoice: { ...invoice, cardTerms: terms.card }, windows, own };
  });
  return await resultInChunks(windowItems(cut, filter));
}

/** The drafts of SCHEDULED invoices, each in the window of its date. */
async function scheduledItems(
  context: SnapshotContext,
  scheduled: FoundBreakdowns['scheduled'],
  filter: ListedBreakdowns,
): Promise<BreakdownItem[]> {
  const targets = scheduled.map(({ target }) => target);
  const drafts = await drawnScheduledDrafts(context, await withShortfalls(context, targets));
  const ownOf = new Map(scheduled.map(({ target, own }) => [target.invoiceId, own]));
  return drafts.flatMap(({ invoice }) => wholeItems(invoice, filter, ownOf.get(invoice.id) ?? []));
}

/** An invoice with all its lines in one window. */
function wholeItems(invoice: Invoice, filter: ListedBreakdowns, places: readonly Place[]): BreakdownItem[] {
  const { lines } = resultAtOnce(linesOf(invoice, [], filter));
  const total = invoiceTotal(lines, invoice.creditTypeId);
  return places.map(({ window }) => ({ ...invoice, lines, total, window }));
}

function* linesOf(
  { lines }: Invoice,
  hours: readonly LineWindow[],
  { isBeforeBalances = false }: ListedBreakdowns,
): Generator<void, LinesBeforeBalances, undefined> {
  return isBeforeBalances ? yield* beforeBalancesInSteps(lines, hours) : { lines, hours };
}

async function issuedItems(
  context: BillingContext,
  issued: FoundBreakdowns['issued'],
  filter: ListedBreakdowns,
): Promise<BreakdownItem[]> {
  const hours = await frozenWindows(context, issued);
  const cut = issued.map(({ invoice, own }) => {
    const { frozen } = invoice;
    return { invoice, windows: frozen === null ? null : (hours.get(frozen.breakdownId) ?? []), own };
  });
  return await resultInChunks(windowItems(cut, filter));
}

/** The frozen hours of issued invoices in the time of the page, by breakdown. */
export async function frozenWindows(
  { clickhouse }: BillingContext,
  issued: FoundBreakdowns['issued'],
): Promise<Map<string, LineWindow[]>> {
  return readFrozenLines(
    clickhouse,
    issued.flatMap(({ invoice }) => invoice.frozen?.breakdownId ?? []),
    timeOf(issued.flatMap(({ own }) => own)),
  );
}

interface CutInvoice {
  readonly invoice: Invoice & WithCard;
  /** Null: all lines are in one window. */
  readonly windows: readonly LineWindow[] | null;
  /** The windows on the page. */
  readonly own: readonly Place[];
}

/** The invoices cut into windows. */
function* windowItems(
  cut: readonly CutInvoice[],
  filter: ListedBreakdowns,
): Generator<void, BreakdownItem[], undefined> {
  const items: BreakdownItem[] = [];
  for (const { invoice, windows, own } of cut) {
    if (windows === null) {
      items.push(...wholeItems(invoice, filter, own));
      continue;
    }
    const shown = new Set(own.map(({ start }) => start));
    const { lines, hours } = yield* linesOf(invoice, windows, filter);
    for (const one of yield* breakdownWindowsInSteps(lines, hours, filter.size, invoice.period)) {
      if (shown.has(one.window.start)) items.push(yield* windowItem(invoice, one));
    }
  }
  return items;
}

/** Memory of a line's share of a window, including its serialized form. */
const SHARE_BYTES = 1_024;

function* windowItem(
  invoice: Invoice & WithCard,
  { window, lines }: BreakdownWindow,
): Generator<void, BreakdownItem, undefined> {
  countMemory(lines.length * SHARE_BYTES);
  const shares: InvoiceLine[] = [];
  for (const line of lines) {
    shares.push(lineShare(line));
    yield;
  }
  return { ...invoice, window, lines: shares, total: invoiceTotal(shares, invoice.creditTypeId) };
}

function lineShare({ line, quantity, total }: BreakdownLine): InvoiceLine {
  return { ...line, quantity, total };
}
