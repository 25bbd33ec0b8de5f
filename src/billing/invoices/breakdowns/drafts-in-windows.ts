/**
 * The drafts of a page of breakdowns with the windows of their lines: for a single page only the windows of that page
 * are computed, for an answer of many pages all of them, once.
 */
import { assert } from '../../../core/errors.ts';
import { resultInChunks } from '../../../core/in-chunks.ts';
import type { Invoice, LineWindow } from '../../../core/invoice.ts';
import type { Interval } from '../../../core/time.ts';
import { lineWindowsOf, type WindowSize } from '../../../rating/invoices/breakdown.ts';
import type { BillingContext } from '../../billing-context.ts';
import { usageInvoiceId } from '../../invoice-queue/usage-periods.ts';
import { type ComputedInvoice, computeUsageInvoices, computeWithLaterHours } from '../compute/compute.ts';
import { draftMoment } from '../usage/draft-moment.ts';
import type { InvoiceUsageSource } from '../usage/usage-weights.ts';
import { type FoundBreakdowns, type Place, timeOf } from './breakdown-places.ts';
import { type KeptDraft, type KeptDrafts, restOf } from './kept-drafts.ts';
import type { WindowOrder } from './packed-windows.ts';

/** An answer of many pages. */
export interface PagesOfAnswer {
  readonly drafts: KeptDrafts;
  /** The time of the whole answer. */
  readonly range: Interval;
}

/** For `findBreakdowns`. */
export function isKeptIn(
  pages: PagesOfAnswer | undefined,
): (id: string, places: readonly Place[]) => boolean {
  return (id, places) => (pages?.drafts.find(id, places) ?? null) !== null;
}

export interface DraftInWindows extends Pick<ComputedInvoice, 'terms'> {
  readonly invoice: Invoice;
  readonly source: InvoiceUsageSource;
  /** The windows within its places. */
  readonly windows: readonly LineWindow[];
  /** Its places on the page. */
  readonly own: readonly Place[];
}

/** Refuses if usage cannot be evaluated: windows have no warnings, so they cannot report missing usage. */
export async function draftsInWindows(
  billing: BillingContext,
  found: FoundBreakdowns['drafts'],
  { size, order }: { readonly size: WindowSize; readonly order: WindowOrder },
  pages: PagesOfAnswer | null,
): Promise<DraftInWindows[]> {
  if (pages === null) return await draftsOfOnePage(billing, found, size);
  return await draftsOfPages(billing, found, { ...pages, size, order });
}

type PlannedDrafts = Pick<FoundBreakdowns['drafts'], 'planned' | 'own'>;

async function draftsOfOnePage(
  billing: BillingContext,
  { planned, own }: PlannedDrafts,
  size: WindowSize,
): Promise<DraftInWindows[]> {
  const countedUpTo = await draftMoment(billing.eventFacts, planned);
  const computed = whole(await computeUsageInvoices(billing, planned, size, own.map(timeOf), countedUpTo));
  const drafts: DraftInWindows[] = [];
  for (const [index, draft] of computed.entries()) {
    const places = own[index] ?? [];
    const windows = await resultInChunks(windowsIn(lineWindowsOf(draft.invoice.lines), places));
    drafts.push({ ...draft, source: sourceOf(planned, index, draft), windows, own: places });
  }
  return drafts;
}

/** Drafts that were computed for an earlier page keep their moment, so that the windows of all pages add up. */
async function draftsOfPages(
  billing: BillingContext,
  { planned, own, kept }: FoundBreakdowns['drafts'],
  { drafts, ...asked }: PagesOfAnswer & { readonly size: WindowSize; readonly order: WindowOrder },
): Promise<DraftInWindows[]> {
  const known = kept.map(({ id, own: places }) => {
    const draft = drafts.find(id, places);
    assert(draft !== null, 'nothing is given up while a page is found');
    return taken(draft, places);
  });
  const { targets } = planned;
  if (targets.length === 0) return known;
  const ids = targets.map(({ contract, period }) => usageInvoiceId(contract.id, period.start));
  // If the complete ingestion time is known, it applies to all drafts.
  const isForAll = billing.eventFacts.completeUpTo() !== null;
  const countedUpTo = drafts.momentOf(ids, isForAll) ?? (await draftMoment(billing.eventFacts, planned));
  const rests = targets.map(({ period }, index) =>
    restOf(period, asked.range, timeOf(own[index] ?? []), asked.order),
  );
  const computed = whole(await computeWithLaterHours(billing, planned, asked.size, rests, countedUpTo));
  const added: DraftInWindows[] = [];
  for (const [index, one] of computed.entries()) {
    const places = own[index] ?? [];
    const draft = await drafts.keep(one, sourceOf(planned, index, one), asked, places);
    added.push(taken(draft, places));
  }
  return [...known, ...added];
}

function taken({ windows, ...draft }: KeptDraft, own: readonly Place[]): DraftInWindows {
  return { ...draft, windows: windows.take(own.map(({ window }) => window)), own };
}

function whole(computed: readonly ComputedInvoice[]): readonly ComputedInvoice[] {
  const [problem] = computed.flatMap(({ problems }) => problems);
  if (problem !== undefined) throw problem;
  return computed;
}

function sourceOf(
  { targets, context }: FoundBreakdowns['drafts']['planned'],
  index: number,
  { ingestedUpTo }: ComputedInvoice,
): InvoiceUsageSource {
  const target = targets[index];
  assert(target !== undefined, 'every computed invoice was planned');
  return { target, context, ingestedUpTo };
}

function* windowsIn(
  windows: Iterable<LineWindow>,
  places: readonly Place[],
): Generator<void, LineWindow[], undefined> {
  const inside: LineWindow[] = [];
  for (const one of windows) {
    const { start, end } = one.window;
    if (places.some(({ window }) => window.start <= start && end <= window.end)) inside.push(one);
    yield;
  }
  return inside;
}
