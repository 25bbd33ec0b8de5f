/**
 * The drafts of one answer of many pages, computed once for all of them if memory allows. A large draft takes seconds,
 * and a month by the hour has 744 windows.
 *
 * Owns: what is cached, and how much. Does not own: how drafts are computed (`drafts-in-windows.ts`).
 */
import { afterOtherWork, CHUNK_ITEMS } from '../../../core/in-chunks.ts';
import type { Invoice, InvoiceLine } from '../../../core/invoice.ts';
import type { Interval } from '../../../core/time.ts';
import type { WindowSize } from '../../../rating/invoices/breakdown.ts';
import type { RatedLine } from '../../../rating/lines/types.ts';
import type { ComputedInvoice } from '../compute/compute.ts';
import type { LineHours } from '../usage/sliced-hours.ts';
import type { InvoiceUsageSource } from '../usage/usage-weights.ts';
import { type Place, timeOf } from './breakdown-places.ts';
import { PackedWindows, type WindowOrder } from './packed-windows.ts';

/** A draft with the windows of its lines stored separately. */
export interface KeptDraft extends Pick<ComputedInvoice, 'terms'> {
  readonly invoice: Invoice;
  readonly source: InvoiceUsageSource;
  readonly windows: PackedWindows;
}

/** The windows that an answer requests, on all of its pages. */
export interface AskedWindows {
  readonly size: WindowSize;
  readonly range: Interval;
  readonly order: WindowOrder;
}

/** A part of the memory share of an answer that is streamed. */
const KEPT_BYTES_MAX = 128 * 1024 ** 2;
/** A line as an object. */
const LINE_BYTES = 1_024;

interface Entry {
  readonly draft: KeptDraft;
  /** The time for which the answer requests windows, and its order. */
  readonly rest: Interval;
  readonly order: WindowOrder;
  isFinished: boolean;
}

export class KeptDrafts {
  readonly #bytesMax: number;
  readonly #entries = new Map<string, Entry>();
  /** The moments of all drafts, including evicted ones. */
  readonly #moments = new Map<string, string>();

  constructor(bytesMax: number = KEPT_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** Null if it is not cached, or does not cover these places. */
  find(id: string, places: readonly Place[]): KeptDraft | null {
    const entry = this.#entries.get(id);
    if (entry === undefined) return null;
    const time = timeOf(places);
    if (!entry.draft.windows.covers(time)) {
      this.#entries.delete(id);
      return null;
    }
    entry.isFinished = isLast(time, entry);
    return entry.draft;
  }

  /**
   * The ingestion time up to which drafts of earlier pages counted events: of any of them if `isForAll`, else of these
   * drafts if it was the same for all. Null: none.
   */
  momentOf(ids: readonly string[], isForAll: boolean): string | null {
    const [first = null, ...others] = isForAll
      ? this.#moments.values()
      : new Set(ids.map((id) => this.#moments.get(id) ?? null));
    return isForAll || others.length === 0 ? first : null;
  }

  /**
   * Caches a draft with the windows that the answer still requests; in any case with those of `places`, the first ones.
   */
  async keep(
    computed: ComputedInvoice,
    source: InvoiceUsageSource,
    { size, range, order }: AskedWindows,
    places: readonly Place[],
  ): Promise<KeptDraft> {
    const { invoice, terms, ingestedUpTo } = computed;
    const rated: readonly RatedLine[] = invoice.lines;
    for (const [id, { isFinished }] of this.#entries) if (isFinished) this.#entries.delete(id);
    const needed = timeOf(places);
    const rest = restOf(invoice.period, range, needed, order);
    const windows = new PackedWindows(invoice.period, size, rest, order);
    const room = this.#bytesMax - this.#bytes() - invoice.lines.length * LINE_BYTES;
    for await (const part of hoursOf(computed)) {
      for (const { position, hours } of part) windows.add(position, hours);
      windows.fitInto(room, needed);
    }
    const lines = rated.map(withoutWindows);
    const draft = { invoice: { ...invoice, lines }, terms, source, windows };
    this.#entries.set(invoice.id, { draft, rest, order, isFinished: isLast(needed, { rest, order }) });
    this.#moments.set(invoice.id, ingestedUpTo);
    return draft;
  }

  #bytes(): number {
    let bytes = 0;
    for (const { draft } of this.#entries.values()) {
      bytes += draft.windows.bytes + draft.invoice.lines.length * LINE_BYTES;
    }
    return bytes;
  }
}

/** None yet. */
export function createKeptDrafts(): KeptDrafts {
  return new KeptDrafts();
}

/** The time of a draft that an answer requests from these places on. */
export function restOf(period: Interval, range: Interval, first: Interval, order: WindowOrder): Interval {
  return order === 'ascending'
    ? { start: first.start, end: Math.max(first.end, Math.min(range.end, period.end)) }
    : { start: Math.min(first.start, Math.max(range.start, period.start)), end: first.end };
}

function isLast({ start, end }: Interval, { rest, order }: Pick<Entry, 'rest' | 'order'>): boolean {
  return order === 'ascending' ? end >= rest.end : start <= rest.start;
}

function withoutWindows({ windows: _, ...line }: RatedLine): InvoiceLine {
  return line;
}

/** The windows of all lines, in parts. */
async function* hoursOf({
  invoice,
  hours,
}: ComputedInvoice): AsyncGenerator<readonly LineHours[], void, undefined> {
  if (hours !== null) {
    yield* hours();
    return;
  }
  const lines: readonly RatedLine[] = invoice.lines;
  for (let first = 0; first < lines.length; first += CHUNK_ITEMS) {
    const part = lines.slice(first, first + CHUNK_ITEMS);
    yield part.map(({ windows }, index) => ({ position: first + index, hours: windows }));
    await afterOtherWork();
  }
}
