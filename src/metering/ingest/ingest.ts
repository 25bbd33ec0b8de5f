import { Refusal } from '../../core/errors.ts';
import { NO_TRACER, type Tracer, traceShared } from '../../core/tracing.ts';
import { createPoll, type Poll } from '../../runtime/poll.ts';
import { type BatchWriter, createBatchWriter, PACE_OF_INSERTS, PACE_OF_LOG } from './batch-writer.ts';
import { createRowEncoder, type RowEncoder, tickAt, USAGE_EVENTS_INSERT } from './encode-events.ts';
import type { EventWatches, Ingest, IngestOptions, IngestOutcome } from './ingest-operations.ts';
import { knownAmong } from './known-ids/known-among.ts';
import { createKnownIds, type KnownIdFigures, type KnownIds } from './known-ids/known-ids.ts';
import { createSharing, type Sharing } from './sharing.ts';
import { EventTaker, type Taken, TracedBatch, type Unsure } from './take-events.ts';
import { createTurns, type Turns } from './turns.ts';
import { createEventReader } from './validate-events.ts';

/** Maximum requests that wait for room with their bodies in memory. */
const WAITING_MAX = 10_000;
const WAIT_MS = 10_000;
/** Ids arrive from other processes as well. */
const TIDY_MS = 1_000;

interface Parts {
  readonly encoder: RowEncoder;
  readonly writer: BatchWriter;
  readonly turns: Turns;
  readonly knownIds: KnownIds;
  readonly sharing: Sharing;
  readonly taker: EventTaker;
  readonly tidying: Poll;
}

export function createIngest(options: IngestOptions): Ingest {
  return new EventIngest(options, createParts(options));
}

function createParts(options: IngestOptions): Parts {
  const { clickhouse, blocks, clock, windowDays, log, onRepeat } = options;
  const encoder = createRowEncoder();
  const batched = new TracedBatch();
  const writer = createBatchWriter({
    ...writeOf(options, batched),
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
  const taker = new EventTaker({ clock, windowDays, onRepeat, encoder, knownIds, writer, batched });
  const tidying = createPoll({
    name: 'known ids',
    intervalMs: TIDY_MS,
    work: () => knownIds.tidy(clock.now()),
    onFailure: (err) => log.error({ err }, 'known ids could not be tidied: it will be tried again'),
  });
  return { encoder, writer, turns, knownIds, sharing, taker, tidying };
}

/** Batches go into the log, or without one into ClickHouse. */
function writeOf(
  { blocks, clickhouse, tracer = NO_TRACER }: IngestOptions,
  batched: TracedBatch,
): Pick<Parameters<typeof createBatchWriter>[0], 'insert' | 'pace'> {
  if (blocks !== undefined)
    return { insert: (encoded, count) => blocks.append(encoded, count, batched.take()), pace: PACE_OF_LOG };
  return {
    insert: (encoded, count) =>
      traceShared(
        tracer,
        'insert events into ClickHouse',
        { links: batched.take(), facts: { 'tallyhouse.events': count } },
        () => clickhouse.insertRows({ ...USAGE_EVENTS_INSERT, rows: encoded }),
      ),
    pace: PACE_OF_INSERTS,
  };
}

class EventIngest implements Ingest {
  readonly #options: IngestOptions;
  readonly #parts: Parts;
  readonly #tracer: Tracer;
  readonly #usageEvents = createEventReader();
  #isReady = false;
  #acceptedTotal = 0;
  #duplicatesTotal = 0;

  constructor(options: IngestOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.#tracer = options.tracer ?? NO_TRACER;
  }

  watch(watches: EventWatches): void {
    this.#parts.taker.watch(watches);
  }

  async ingest(body: Buffer, reader = this.#usageEvents): Promise<IngestOutcome> {
    const { knownIds, taker, turns } = this.#parts;
    const request = this.#tracer.current();
    const turn = turns.enter();
    if (turn !== null) await turn;
    let first: Taken | Unsure;
    // Nothing is awaited from here to the next step, because the next request reuses the rows.
    try {
      first = this.#tracer.step('validate and deduplicate', {}, () => {
        this.admit();
        return taker.take(body, reader, request);
      });
    } finally {
      if (turn !== null) turns.leave();
    }
    const taken =
      'ids' in first
        ? await this.#tracer.step('look up known events', {}, () => taker.takeUnsure(first, reader, request))
        : first;
    await this.#stored(taken);
    const { accepted, duplicates } = taken;
    this.#acceptedTotal += accepted;
    this.#duplicatesTotal += duplicates;
    knownIds.tidy(this.#options.clock.now());
    return { accepted, duplicates };
  }

  /** Resolves when the events are on disk and all watches are notified. */
  async #stored({ accepted, durable, usage, watched }: Taken): Promise<void> {
    try {
      await this.#tracer.step('write events durably', { 'tallyhouse.events': accepted }, () => durable);
    } catch (error) {
      watched?.failed();
      throw error;
    }
    this.#parts.taker.stored(usage);
    await watched?.stored();
  }

  admit(): void {
    if (!this.#isReady) throw new Refusal('unavailable', 'the service is starting, send the events again');
    this.#parts.writer.checkOpen();
    this.#parts.turns.checkLength();
  }

  async rebuild(): Promise<{ ids: number }> {
    const { encoder, knownIds, sharing, tidying } = this.#parts;
    const readStored = async () => {
      await sharing.begin();
      return await knownIds.restore(this.#options.clock.now());
    };
    // Reconciling waits for mutations, and a start continues without an index if parts are damaged.
    const { lastTick, suspects } = await readStored().finally(this.#options.clickhouse.startMerges);
    await sharing.reconcile(suspects);
    encoder.startAfter(lastTick);
    this.#isReady = true;
    sharing.start();
    tidying.start();
    return { ids: idsOf(knownIds.figures()) };
  }

  async tail(): Promise<{ rows: number }> {
    const { knownIds, sharing } = this.#parts;
    const looked = await sharing.tail();
    // A process that only follows others gets its ids here.
    knownIds.tidy(this.#options.clock.now());
    return looked;
  }

  async storedAmong(transactionIds: readonly string[]): Promise<ReadonlySet<string>> {
    const { knownIds } = this.#parts;
    const { clock } = this.#options;
    if (!this.#isReady || transactionIds.length === 0) return new Set();
    const known = await knownAmong(knownIds, clock, transactionIds);
    if (known.length === 0) return new Set();
    // Ids of rows being written are written by now, or are no longer known.
    await this.drained();
    return new Set(await knownAmong(knownIds, clock, known));
  }

  completeUpTo(): string | null {
    const { blocks, clock } = this.#options;
    if (blocks === undefined || !this.#isReady) return null;
    // Events on their way to the log may still fail, or become visible between two queries of one answer.
    const oldest = this.#parts.writer.oldest();
    return String(oldest === null ? this.#parts.encoder.pass(clock.now()) : tickAt(oldest, 0) - 1);
  }

  takenUpTo(): number | null {
    return this.#options.blocks === undefined || !this.#isReady ? null : this.#parts.encoder.last();
  }

  mark(): number | null {
    const { blocks, clock } = this.#options;
    return blocks === undefined || !this.#isReady ? null : this.#parts.encoder.pass(clock.now());
  }

  startAfter(tick: number): void {
    this.#parts.encoder.startAfter(tick);
  }

  stats(): ReturnType<Ingest['stats']> {
    const { knownIds, sharing, writer } = this.#parts;
    const { blocks } = this.#options;
    return {
      acceptedTotal: this.#acceptedTotal,
      duplicatesTotal: this.#duplicatesTotal,
      ids: idsOf(knownIds.figures()),
      indexBytes: bytesOf(knownIds.figures()),
      knownIds: knownIds.figures(),
      ...writer.stats(),
      loggedBytes: blocks?.stats().waitingBytes ?? 0,
      failedLogInserts: blocks?.stats().failedInserts ?? 0,
      ...sharing.stats(),
    };
  }

  drained(): Promise<void> {
    return this.#parts.writer.drained().catch(() => undefined);
  }

  observeLookups(observe: (seconds: number) => void): void {
    this.#parts.knownIds.observeLookups(observe);
  }

  tidied(): Promise<void> {
    return this.#parts.knownIds.idle();
  }

  async close(): Promise<void> {
    const { knownIds, sharing, tidying, turns, writer } = this.#parts;
    await tidying.close();
    turns.close();
    await writer.close();
    await sharing.close();
    // Blocks that ClickHouse refuses stay in the log.
    await this.#options.blocks?.visible(null).catch(() => {});
    await knownIds.close();
  }
}

function idsOf({ recent, filtered }: KnownIdFigures): number {
  return recent.ids + filtered.ids;
}

function bytesOf({ recent, filtered }: KnownIdFigures): number {
  return recent.bytes + filtered.bytes;
}
