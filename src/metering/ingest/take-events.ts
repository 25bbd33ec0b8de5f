/**
 * Takes the events of a request: finds those whose id is new, reserves the ids, and adds the rows to the open batch, all in
 * one go, so that no other request intervenes.
 */
import type { Clock } from '../../core/clock.ts';
import { Refusal } from '../../core/errors.ts';
import type { NewUsage } from '../../core/event-quantities.ts';
import type { Instant } from '../../core/time.ts';
import { addLinks, type TraceContext } from '../../core/tracing.ts';
import type { BatchWriter } from './batch-writer.ts';
import { type RowEncoder, rowBytes } from './encode-events.ts';
import type { EventRows } from './event-rows.ts';
import { createEventWeigher } from './event-weigher.ts';
import type { EventWatches, IngestOptions, IngestOutcome } from './ingest-operations.ts';
import type { KnownIds, LookedUp, UnsureIds } from './known-ids/known-ids.ts';
import { type WatchedEvents, watchedEvents } from './new-events.ts';
import { HASH_WORDS } from './transaction-hash.ts';
import { areInTime, type EventReader } from './validate-events.ts';

/** The indexes of events in their request. */
interface NewEvents {
  readonly fresh: readonly number[];
  readonly repeats: readonly number[];
  /** Bytes for the rows of the new events. */
  readonly bytes: number;
}

export interface Taken extends IngestOutcome {
  readonly durable: Promise<void> | undefined;
  readonly usage: NewUsage;
  readonly watched: WatchedEvents | null;
}

/** Events with possibly known ids: they are looked up before any event is taken. */
export interface Unsure {
  readonly rows: EventRows;
  /** The ids to look up. */
  readonly ids: UnsureIds;
}

export interface TakeContext {
  readonly clock: Clock;
  readonly windowDays: number;
  readonly onRepeat: IngestOptions['onRepeat'];
  readonly encoder: RowEncoder;
  readonly knownIds: KnownIds;
  readonly writer: BatchWriter;
  /** The traced requests whose rows are in the open batch, which may be written by the append that fills it. */
  readonly batched: TracedBatch;
}

/** Maximum bytes of rows that wait for lookups. */
const UNSURE_BYTES_MAX = 32 * 1024 * 1024;
/** Ids may leave the memory between a lookup and its use, so that it has to be repeated. That is rare. */
const LOOKUPS_MAX = 5;

export class TracedBatch {
  #requests: TraceContext[] = [];

  add(request: TraceContext): void {
    addLinks(this.#requests, [request]);
  }

  take(): readonly TraceContext[] {
    const taken = this.#requests;
    if (taken.length > 0) this.#requests = [];
    return taken;
  }
}

export class EventTaker {
  readonly #context: TakeContext;
  #watches: EventWatches | null = null;
  #weigh: (rows: EventRows, fresh: readonly number[]) => NewUsage = () => null;
  #unsureBytes = 0;

  constructor(context: TakeContext) {
    this.#context = context;
  }

  watch(watches: EventWatches): void {
    this.#watches = watches;
    this.#weigh = createEventWeigher(watches.usage);
  }

  /** The usage of events is on disk. */
  stored(usage: NewUsage): void {
    this.#watches?.usage.stored(usage);
  }

  /** Everything up to the append, synchronously. Separate from `ingest`, so that no await keeps the parsed body alive. */
  take(body: Buffer, reader: EventReader, request: TraceContext | undefined): Taken | Unsure {
    const { clock, windowDays } = this.#context;
    const now = clock.now();
    const validation = reader.read(body, { now, windowDays });
    if (!('rows' in validation)) {
      throw new Refusal('invalid', validation.message, { details: { errors: validation.errors } });
    }
    return this.#takeRows(validation.rows, now, request, null);
  }

  /** Takes events after looking up whether they are known. Nothing is reserved during the lookup. */
  async takeUnsure(
    { rows, ids: first }: Unsure,
    reader: EventReader,
    request: TraceContext | undefined,
  ): Promise<Taken> {
    reader.keepRows();
    if (this.#unsureBytes + rows.length > UNSURE_BYTES_MAX)
      throw new Refusal('overloaded', 'too many known events are being looked up, try again in a moment');
    this.#unsureBytes += rows.length;
    try {
      const { clock, knownIds, windowDays } = this.#context;
      let ids = first;
      for (let lookups = 0; lookups < LOOKUPS_MAX; lookups += 1) {
        const lookedUp = await knownIds.lookUp(ids);
        const now = clock.now();
        if (!areInTime(rows, { now, windowDays })) break;
        const taken = this.#takeRows(rows, now, request, lookedUp);
        if (!('ids' in taken)) return taken;
        ids = taken.ids;
      }
      throw new Refusal('unavailable', 'known events could not be looked up in time, send the events again');
    } finally {
      this.#unsureBytes -= rows.length;
      reader.giveBack(rows);
    }
  }

  #takeRows(
    rows: EventRows,
    now: Instant,
    request: TraceContext | undefined,
    lookedUp: LookedUp | null,
  ): Taken | Unsure {
    const { batched, encoder, knownIds, onRepeat, writer } = this.#context;
    writer.checkRoom();
    const nowSeconds = Math.floor(now / 1000);
    const times = { nowSeconds, timestamps: rows.timestamps };
    const ids = knownIds.unsure(rows.hashes, rows.count, times, lookedUp);
    if (ids !== null) return { rows, ids };
    const events = reserveNew(knownIds, rows, nowSeconds, lookedUp);
    const count = events.fresh.length;
    const duplicates = events.repeats.length;
    if (request !== undefined && count > 0) batched.add(request);
    const written = count > 0 ? this.#append(rows, events, now) : undefined;
    // Only after the new events are in their batch, so that a failure here does not affect them.
    if (onRepeat !== undefined) for (const i of events.repeats) onRepeat(() => rows.read(i), now);
    // The first copy of a duplicate may still be in flight: it must be on disk before the answer is 200.
    const durable = duplicates > 0 ? writer.drained() : written;
    const watched =
      this.#watches === null
        ? null
        : watchedEvents(this.#watches, rows, events.fresh, () => encoder.pass(now));
    return { accepted: count, duplicates, durable, usage: this.#weigh(rows, events.fresh), watched };
  }

  #append(rows: EventRows, { fresh, bytes }: NewEvents, now: Instant): Promise<void> {
    const { encoder, knownIds, writer } = this.#context;
    const write = (buffer: Buffer, offset: number): number => {
      let end = offset;
      for (const i of fresh) end = encoder.encode(rows, i, now, buffer, end);
      return end;
    };
    // The next request reuses the rows.
    const hashes = rows.hashes.slice(0, rows.count * HASH_WORDS);
    const release = () => {
      for (const i of fresh) knownIds.release(hashes, i * HASH_WORDS);
    };
    try {
      return writer.append({ count: fresh.length, bytesMax: bytes, write }, release);
    } catch (error) {
      // If the id stayed reserved without its event, every retry would be dropped as a duplicate.
      release();
      throw error;
    }
  }
}

/** Reserves the ids and returns the events whose id is new. */
function reserveNew(
  knownIds: KnownIds,
  rows: EventRows,
  nowSeconds: number,
  lookedUp: LookedUp | null,
): NewEvents {
  const fresh: number[] = [];
  const repeats: number[] = [];
  let bytes = 0;
  for (let i = 0; i < rows.count; i += 1) {
    const timestampSeconds = Math.floor((rows.timestamps[i] ?? 0) / 1000);
    if (knownIds.reserve(rows.hashes, i * HASH_WORDS, nowSeconds, timestampSeconds, lookedUp)) {
      bytes += rowBytes(rows, i);
      fresh.push(i);
    } else repeats.push(i);
  }
  return { fresh, repeats, bytes };
}
