import { Refusal } from '../../core/errors.ts';
import type { NewUsage } from '../../core/event-quantities.ts';
import type { Instant } from '../../core/time.ts';
import { addLinks, NO_TRACER, type TraceContext, traceShared } from '../../core/tracing.ts';
import { createPoll } from '../../runtime/poll.ts';
import { createBatchWriter, PACE_OF_INSERTS, PACE_OF_LOG } from './batch-writer.ts';
import { createRowEncoder, rowBytes, tickAt, USAGE_EVENTS_INSERT } from './encode-events.ts';
import type { EventRows } from './event-rows.ts';
import { createEventWeigher } from './event-weigher.ts';
import type { EventWatches, Ingest, IngestOptions, IngestOutcome } from './ingest-operations.ts';
import { knownAmong } from './known-ids/known-among.ts';
import { createKnownIds, type KnownIdFigures, type LookedUp, type UnsureIds } from './known-ids/known-ids.ts';
import { type WatchedEvents, watchedEvents } from './new-events.ts';
import type { Rebuilt } from './rebuild-index.ts';
import { createSharing } from './sharing.ts';
import { HASH_WORDS } from './transaction-hash.ts';
import { createTurns } from './turns.ts';
import { areInTime, createEventReader, type EventReader } from './validate-events.ts';

/** The indexes of events in their request. */
interface NewEvents {
  readonly fresh: readonly number[];
  readonly repeats: readonly number[];
  /** Bytes for the rows of the new events. */
  readonly bytes: number;
}

interface Taken extends IngestOutcome {
  readonly durable: Promise<void> | undefined;
  readonly usage: NewUsage;
  readonly watched: WatchedEvents | null;
}

/** Events with possibly known ids: they are looked up before any event is taken. */
interface Unsure {
  readonly rows: EventRows;
  /** The ids to look up. */
  readonly ids: UnsureIds;
}

/** Maximum bytes of rows that wait for lookups. */
const UNSURE_BYTES_MAX = 32 * 1024 * 1024;
/** Ids may leave the memory between a lookup and its use, so that it has to be repeated. That is rare. */
const LOOKUPS_MAX = 5;
/** Maximum requests that wait for room with their bodies in memory. */
const WAITING_MAX = 10_000;
const WAIT_MS = 10_000;
/** Ids arrive from other processes as well. */
const TIDY_MS = 1_000;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: its functions share the state of one process, and each is short.
export function createIngest(options: IngestOptions): Ingest {
  const { clickhouse, blocks, clock, windowDays, log, tracer = NO_TRACER, onRepeat } = options;
  const encoder = createRowEncoder();
  const usageEvents = createEventReader();
  let watches: EventWatches | null = null;
  let weigh: (rows: EventRows, fresh: readonly number[]) => NewUsage = () => null;
  const writer = createBatchWriter({
    ...(blocks === undefined
      ? {
          insert: (encoded, count) =>
            traceShared(
              tracer,
              'insert events into ClickHouse',
              { links: takeBatched(), facts: { 'tallyhouse.events': count } },
              () => clickhouse.insertRows({ ...USAGE_EVENTS_INSERT, rows: encoded }),
            ),
          pace: PACE_OF_INSERTS,
        }
      : { insert: (encoded, count) => blocks.append(encoded, count, takeBatched()), pace: PACE_OF_LOG }),
    onFailure: (error, rows) => log.error({ err: error, rows }, 'a batch of events could not be written'),
    onRoom: () => turns.wake(),
  });
  const turns = createTurns({
    hasRoom: () => writer.hasRoom(),
    waitingMax: WAITING_MAX,
    waitMs: WAIT_MS,
  });
  const knownIds = createKnownIds({
    ...{ clickhouse, windowDays, log, older: options.olderIds },
    stored: async () => {
      // The ids of failed rows are released.
      await writer.drained().catch(() => {});
      await blocks?.visible(null);
    },
    startAfter: (seconds) => encoder.startAfter(seconds * 1_000_000 - 1),
  });
  const sharing = createSharing({ ...options, index: knownIds, drained: () => writer.drained() });
  let unsureBytes = 0;
  const tidying = createPoll({
    name: 'known ids',
    intervalMs: TIDY_MS,
    work: () => knownIds.tidy(clock.now()),
    onFailure: (err) => log.error({ err }, 'known ids could not be tidied: it will be tried again'),
  });
  /** The traced requests whose rows are in the open batch, which may be written by the append that fills it. */
  let batched: TraceContext[] = [];
  let isReady = false;
  let acceptedTotal = 0;
  let duplicatesTotal = 0;

  /** Reserves the ids and returns the events with a new id. Synchronous, so that requests cannot interleave. */
  function reserveNew(rows: EventRows, nowSeconds: number, lookedUp: LookedUp | null): NewEvents {
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

  function append(rows: EventRows, { fresh, bytes }: NewEvents, now: Instant): Promise<void> {
    const write = (buffer: Buffer, offset: number): number => {
      let end = offset;
      for (const i of fresh) end = encoder.encode(rows, i, now, buffer, end);
      return end;
    };
    const release = releaseLater(rows, fresh);
    try {
      return writer.append({ count: fresh.length, bytesMax: bytes, write }, release);
    } catch (error) {
      // If the id stayed reserved without its event, every retry would be dropped as a duplicate.
      release();
      throw error;
    }
  }

  function takeBatched(): readonly TraceContext[] {
    const taken = batched;
    if (taken.length > 0) batched = [];
    return taken;
  }

  function releaseLater(rows: EventRows, fresh: readonly number[]): () => void {
    // The next request reuses the rows.
    const hashes = rows.hashes.slice(0, rows.count * HASH_WORDS);
    return () => {
      for (const i of fresh) knownIds.release(hashes, i * HASH_WORDS);
    };
  }

  function admit(): void {
    if (!isReady) throw new Refusal('unavailable', 'the service is starting, send the events again');
    writer.checkOpen();
    turns.checkLength();
  }

  /**
   * Everything up to the append, synchronously. Separate from `ingest`, so that no await keeps the parsed body alive.
   */
  function take(body: Buffer, reader: EventReader, request: TraceContext | undefined): Taken | Unsure {
    admit();
    const now = clock.now();
    const validation = reader.read(body, { now, windowDays });
    if (!('rows' in validation)) {
      throw new Refusal('invalid', validation.message, { details: { errors: validation.errors } });
    }
    return takeRows(validation.rows, now, request, null);
  }

  function takeRows(
    rows: EventRows,
    now: Instant,
    request: TraceContext | undefined,
    lookedUp: LookedUp | null,
  ): Taken | Unsure {
    writer.checkRoom();
    const nowSeconds = Math.floor(now / 1000);
    const times = { nowSeconds, timestamps: rows.timestamps };
    const ids = knownIds.unsure(rows.hashes, rows.count, times, lookedUp);
    if (ids !== null) return { rows, ids };
    const events = reserveNew(rows, nowSeconds, lookedUp);
    const count = events.fresh.length;
    const duplicates = events.repeats.length;
    if (request !== undefined && count > 0) addLinks(batched, [request]);
    const written = count > 0 ? append(rows, events, now) : undefined;
    // Only after the new events are in their batch, so that a failure here does not affect them.
    if (onRepeat !== undefined) for (const i of events.repeats) onRepeat(() => rows.read(i), now);
    // The first copy of a duplicate may still be in flight: it must be on disk before the answer is 200.
    const durable = duplicates > 0 ? writer.drained() : written;
    const watched = watchedEvents(watches?.events, rows, events.fresh, () => encoder.pass(now));
    return { accepted: count, duplicates, durable, usage: weigh(rows, events.fresh), watched };
  }

  /** Takes events after looking up whether they are known. Nothing is reserved during the lookup. */
  async function takeUnsure(
    unsure: Unsure,
    reader: EventReader,
    request: TraceContext | undefined,
  ): Promise<Taken> {
    const { rows } = unsure;
    reader.keepRows();
    if (unsureBytes + rows.length > UNSURE_BYTES_MAX)
      throw new Refusal('overloaded', 'too many known events are being looked up, try again in a moment');
    unsureBytes += rows.length;
    try {
      let { ids } = unsure;
      for (let lookups = 0; lookups < LOOKUPS_MAX; lookups += 1) {
        const lookedUp = await knownIds.lookUp(ids);
        const now = clock.now();
        if (!areInTime(rows, { now, windowDays })) break;
        const taken = takeRows(rows, now, request, lookedUp);
        if (!('ids' in taken)) return taken;
        ids = taken.ids;
      }
      throw new Refusal('unavailable', 'known events could not be looked up in time, send the events again');
    } finally {
      unsureBytes -= rows.length;
      reader.giveBack(rows);
    }
  }

  async function ingest(body: Buffer, reader = usageEvents): Promise<IngestOutcome> {
    const request = tracer.current();
    const turn = turns.enter();
    if (turn !== null) await turn;
    let first: Taken | Unsure;
    // Nothing is awaited from here to the next step, because the next request reuses the rows.
    try {
      first = tracer.step('validate and deduplicate', {}, () => take(body, reader, request));
    } finally {
      if (turn !== null) turns.leave();
    }
    const taken =
      'ids' in first
        ? await tracer.step('look up known events', {}, () => takeUnsure(first, reader, request))
        : first;
    const { accepted, duplicates, durable, usage, watched } = taken;
    try {
      await tracer.step('write events durably', { 'tallyhouse.events': accepted }, () => durable);
    } catch (error) {
      watched?.failed();
      throw error;
    }
    watches?.usage.stored(usage);
    await watched?.stored();
    acceptedTotal += accepted;
    duplicatesTotal += duplicates;
    knownIds.tidy(clock.now());
    return { accepted, duplicates };
  }

  async function readStored(): Promise<Rebuilt> {
    await sharing.begin();
    return await knownIds.restore(clock.now());
  }

  return {
    watch(given) {
      watches = given;
      weigh = createEventWeigher(given.usage);
    },
    ingest,
    admit,
    async rebuild() {
      // Reconciling waits for mutations, and a start continues without an index if parts are damaged.
      const { lastTick, suspects } = await readStored().finally(clickhouse.startMerges);
      await sharing.reconcile(suspects);
      encoder.startAfter(lastTick);
      isReady = true;
      sharing.start();
      tidying.start();
      return { ids: idsOf(knownIds.figures()) };
    },
    async tail() {
      const looked = await sharing.tail();
      // A process that only follows others gets its ids here.
      knownIds.tidy(clock.now());
      return looked;
    },
    async storedAmong(transactionIds) {
      if (!isReady || transactionIds.length === 0) return new Set();
      const known = await knownAmong(knownIds, clock, transactionIds);
      if (known.length === 0) return new Set();
      // Ids of rows being written are written by now, or are no longer known.
      await writer.drained().catch(() => {});
      return new Set(await knownAmong(knownIds, clock, known));
    },
    completeUpTo() {
      if (blocks === undefined || !isReady) return null;
      // Events on their way to the log may still fail, or become visible between two queries of one answer.
      const oldest = writer.oldest();
      return String(oldest === null ? encoder.pass(clock.now()) : tickAt(oldest, 0) - 1);
    },
    stats: () => ({
      acceptedTotal,
      duplicatesTotal,
      ids: idsOf(knownIds.figures()),
      indexBytes: bytesOf(knownIds.figures()),
      knownIds: knownIds.figures(),
      ...writer.stats(),
      loggedBytes: blocks?.stats().waitingBytes ?? 0,
      failedLogInserts: blocks?.stats().failedInserts ?? 0,
      ...sharing.stats(),
    }),
    drained: () => writer.drained().catch(() => undefined),
    observeLookups: (observe) => knownIds.observeLookups(observe),
    tidied: () => knownIds.idle(),
    async close() {
      await tidying.close();
      turns.close();
      await writer.close();
      await sharing.close();
      // Blocks that ClickHouse refuses stay in the log.
      await blocks?.visible(null).catch(() => {});
      await knownIds.close();
    },
  };
}

function idsOf({ recent, filtered }: KnownIdFigures): number {
  return recent.ids + filtered.ids;
}

function bytesOf({ recent, filtered }: KnownIdFigures): number {
  return recent.bytes + filtered.bytes;
}
