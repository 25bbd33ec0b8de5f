/**
 * Invoices by any properties of events: each line, or its part in a day, is divided among the values of the properties
 * (docs/explanation/spend-breakdowns.md). Amounts are before commits and credits. They are computed from the same hours
 * as breakdowns, frozen ones for issued invoices, so the parts of a line add up to it.
 */
import { type Decimal, ZERO } from '../../../core/decimal.ts';
import { assert } from '../../../core/errors.ts';
import { addToGroup } from '../../../core/group-by.ts';
import { groupInChunks, resultInChunks } from '../../../core/in-chunks.ts';
import type { Invoice, InvoiceLine, LineWindow } from '../../../core/invoice.ts';
import { type Page, pageWithRows } from '../../../core/paging.ts';
import { sortedInSteps } from '../../../core/sort-in-steps.ts';
import type { Interval } from '../../../core/time.ts';
import { PROPERTY_NAME_LENGTH_MAX } from '../../../metering/ingest/event-limits.ts';
import { beforeBalances, beforeBalancesInSteps } from '../../../rating/invoices/before-balances.ts';
import { invoiceTotal } from '../../../rating/invoices/breakdown.ts';
import {
  type ShareValues,
  type SpendShare,
  shareKey,
  spendSharesInSteps,
} from '../../../rating/invoices/spend-shares.ts';
import { inSnapshot } from '../../../store/base/database.ts';
import { loadInvoiceTerms } from '../../../store/invoices/invoice-terms.ts';
import { countedUpToOf, type IssuedInvoice } from '../../../store/invoices/invoices.ts';
import type { BillingContext } from '../../billing-context.ts';
import { requireCustomer, scheduledOf } from '../read/read-invoices.ts';
import { invoiceContext } from '../terms/invoice-context.ts';
import { type InvoiceUsageSource, usageWeights } from '../usage/usage-weights.ts';
import {
  type BreakdownFilter,
  type BreakdownPageRequest,
  type BreakdownPosition,
  byWindow,
  type FoundBreakdowns,
  findBreakdowns,
  type Place,
} from './breakdown-places.ts';
import { frozenWindows } from './breakdowns.ts';
import { draftsInWindows, isKeptIn, type PagesOfAnswer } from './drafts-in-windows.ts';

/** No stored event has longer names. */
export const SPEND_PROPERTY_LENGTH_MAX = PROPERTY_NAME_LENGTH_MAX;

/** Part of a line. */
export interface SpendGroup {
  /** The values of the requested properties in order; null as a whole for charges that belong to no events. */
  readonly shares: ShareValues;
  readonly quantity: Decimal;
  readonly total: Decimal;
}

/** An invoice in one window, each line with its groups. Lines and total are before commits and credits. */
export interface SpendItem extends Invoice {
  readonly window: Interval;
  /** In the order of `lines`. */
  readonly groups: readonly (readonly SpendGroup[])[];
}

export interface SpendFilter extends BreakdownFilter {
  readonly size: 'day' | 'none';
  /** Properties of events. */
  readonly properties: readonly string[];
  /** Set if the answer has many pages, whose drafts are computed once. */
  readonly pages?: PagesOfAnswer;
}

/**
 * A page in the order of breakdowns, with a row unless none follow (`pageWithRows`). Voided invoices are excluded
 * unless requested.
 */
export async function listSpendBreakdowns(
  billing: BillingContext,
  filter: SpendFilter,
  { order, ...page }: BreakdownPageRequest,
): Promise<Page<SpendItem, BreakdownPosition>> {
  return pageWithRows(page, (part) => readSpend(billing, filter, { ...part, order }), positionOf);
}

function positionOf({ window, issuedAt, id }: SpendItem): BreakdownPosition {
  return { start: window.start, at: issuedAt, id };
}

async function readSpend(
  billing: BillingContext,
  filter: SpendFilter,
  page: BreakdownPageRequest,
): Promise<Page<SpendItem, BreakdownPosition>> {
  const { scheduled, drafts, issued, next } = await inSnapshot(billing.db, async (db) => {
    await requireCustomer(db, filter.customerId);
    const found = await findBreakdowns(
      { ...billing, db },
      { ...filter, withoutVoid: true },
      page,
      isKeptIn(filter.pages),
    );
    const targets = found.scheduled.map(({ target }) => target);
    const invoices = await scheduledOf({ ...billing, db }, targets);
    const ownOf = new Map(found.scheduled.map(({ target, own }) => [target.invoiceId, own]));
    return {
      ...found,
      scheduled: invoices.map((invoice) => ({ invoice, own: ownOf.get(invoice.id) ?? [] })),
    };
  });
  const rows = [
    ...scheduled.flatMap(({ invoice, own }) => wholeItems(invoice, own)),
    ...(await draftItems(billing, drafts, filter, page.order)),
    ...(await issuedItems(billing, issued, filter.properties)),
  ];
  const compare = byWindow(page.order);
  rows.sort((a, b) => compare(positionOf(a), positionOf(b)));
  return { rows, next };
}

async function draftItems(
  billing: BillingContext,
  found: FoundBreakdowns['drafts'],
  { properties, pages }: SpendFilter,
  order: BreakdownPageRequest['order'],
): Promise<SpendItem[]> {
  const items: SpendItem[] = [];
  for (const draft of await draftsInWindows(billing, found, { size: 'hour', order }, pages ?? null)) {
    const { invoice, windows, source, own } = draft;
    items.push(...(await itemsOf(billing, invoice, windows, source, own, properties)));
  }
  return items;
}

async function issuedItems(
  billing: BillingContext,
  issued: FoundBreakdowns['issued'],
  properties: readonly string[],
): Promise<SpendItem[]> {
  const frozen = await frozenWindows(billing, issued);
  const bounds = await countedUpToOf(
    billing.db,
    issued.map(({ invoice }) => invoice.id),
  );
  const items: SpendItem[] = [];
  for (const { invoice, own } of issued) {
    if (invoice.frozen === null) {
      items.push(...wholeItems(invoice, own));
      continue;
    }
    const source = await sourceOf(billing, invoice, bounds.get(invoice.id) ?? null);
    const hours = await resultInChunks(hoursIn(frozen.get(invoice.frozen.breakdownId) ?? [], own));
    items.push(...(await itemsOf(billing, invoice, hours, source, own, properties)));
  }
  return items;
}

/** The terms and customer names that were stored with it. */
async function sourceOf(
  { db }: BillingContext,
  { contractId, customerId, period, frozen }: IssuedInvoice,
  ingestedUpTo: string | null,
): Promise<InvoiceUsageSource> {
  assert(frozen !== null, 'an issued usage invoice has frozen terms');
  const { card, contract } = await loadInvoiceTerms(db, frozen);
  const context = await invoiceContext(
    db,
    new Map([[frozen.cardTermsId, card]]),
    new Map([[contractId, contract]]),
  );
  const target = { contract: { id: contractId, customerId, rateCardId: frozen.cardTermsId }, period };
  return { target, context, ingestedUpTo };
}

/** The windows within one of the places; a page may have some days of an invoice only. */
function* hoursIn(
  windows: Iterable<LineWindow>,
  places: readonly Place[],
): Generator<void, LineWindow[], undefined> {
  const hours: LineWindow[] = [];
  for (const one of windows) {
    if (placeOf(one.window, places) !== undefined) hours.push(one);
    yield;
  }
  return hours;
}

function placeOf({ start, end }: Interval, places: readonly Place[]): Place | undefined {
  return places.find(({ window }) => window.start <= start && end <= window.end);
}

async function itemsOf(
  billing: BillingContext,
  paid: Invoice,
  paidHours: readonly LineWindow[],
  source: InvoiceUsageSource,
  places: readonly Place[],
  properties: readonly string[],
): Promise<SpendItem[]> {
  const { lines, hours } = await resultInChunks(beforeBalancesInSteps(paid.lines, paidHours));
  const invoice = { ...paid, lines };
  const weightsOf = await usageWeights(billing.usageSource, source, { lines, hours }, properties);
  const all = await resultInChunks(spendSharesInSteps(lines, hours, weightsOf));
  const shares = await groupInChunks(all, ({ window }) => placeOf(window, places));
  return await resultInChunks(windowItems(invoice, places, shares));
}

function* windowItems(
  invoice: Invoice,
  places: readonly Place[],
  shares: ReadonlyMap<Place | undefined, readonly SpendShare[]>,
): Generator<void, SpendItem[], undefined> {
  const items: SpendItem[] = [];
  for (const place of places) items.push(yield* windowItem(invoice, place.window, shares.get(place) ?? []));
  return items;
}

function* windowItem(
  invoice: Invoice,
  window: Interval,
  shares: readonly SpendShare[],
): Generator<void, SpendItem, undefined> {
  const byLine = [...(yield* grouped(shares, ({ position }) => position))].sort(([a], [b]) => a - b);
  const lines: InvoiceLine[] = [];
  const groups: SpendGroup[][] = [];
  for (const [position, own] of byLine) {
    const line = invoice.lines[position];
    assert(line !== undefined, 'a share belongs to a line of the invoice');
    const ofLine = yield* groupsOf(own);
    lines.push({ ...line, ...(yield* totalOf(ofLine)) });
    groups.push(ofLine);
  }
  return { ...invoice, window, lines, total: invoiceTotal(lines, invoice.creditTypeId), groups };
}

function* grouped<Item, Key>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): Generator<void, Map<Key, Item[]>, undefined> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    addToGroup(groups, keyOf(item), item);
    yield;
  }
  return groups;
}

/** By values, absent ones last before the share that belongs to no events. */
function* groupsOf(shares: readonly SpendShare[]): Generator<void, SpendGroup[], undefined> {
  const groups: SpendGroup[] = [];
  for (const own of (yield* grouped(shares, (share) => shareKey(share.shares))).values()) {
    groups.push({ shares: own[0]?.shares ?? null, ...(yield* totalOf(own)) });
  }
  return yield* sortedInSteps(groups, (a, b) => compareShares(a.shares, b.shares));
}

function* totalOf(parts: readonly Pick<SpendGroup, 'quantity' | 'total'>[]) {
  let [quantity, total] = [ZERO, ZERO];
  for (const part of parts) {
    quantity = quantity.plus(part.quantity);
    total = total.plus(part.total);
    yield;
  }
  return { quantity, total };
}

function compareShares(a: ShareValues, b: ShareValues): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? null;
    if (value === other) continue;
    if (value === null || other === null) return value === null ? 1 : -1;
    return value < other ? -1 : 1;
  }
  return 0;
}

/** A SCHEDULED invoice, which is not based on events. */
function wholeItems(invoice: Invoice, places: readonly Place[]): SpendItem[] {
  const { lines } = beforeBalances(invoice.lines, []);
  return places.map(({ window }) => ({
    ...invoice,
    lines,
    total: invoiceTotal(lines, invoice.creditTypeId),
    window,
    groups: lines.map(({ quantity, total }) => [{ shares: null, quantity, total }]),
  }));
}
