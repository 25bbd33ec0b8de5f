/**
 * The path of an event from the request to the disk: validate, drop duplicates, append to the open batch, answer
 * when that batch is durable. docs/deduplication.md describes it.
 *
 * Needs ClickHouse only. Customers, aliases and metrics are looked up when usage is read.
 */
import type { Clock } from '../../core/clock.ts';
import { Refusal } from '../../core/errors.ts';
import { DAY_MS, type Instant } from '../../core/time.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { createBatchWriter } from './batch-writer.ts';
import { createDeduplicationIndex } from './deduplication-index.ts';
import { createRowEncoder, rowBytesMax, USAGE_EVENTS_COLUMNS, USAGE_EVENTS_TABLE } from './encode-events.ts';
import { rebuildIndex } from './rebuild-index.ts';
import { createSharing } from './sharing.ts';
import { HASH_WORDS, hashTransactionId } from './transaction-hash.ts';
import { type ValidEvent, validateEvents } from './validate-events.ts';

interface IngestLog {
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn?(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface IngestOptions {
  readonly clickhouse: ClickHouse;
  readonly clock: Clock;
  /** Days for which an id is remembered from its acceptance, and the greatest age of a timestamp. */
  readonly windowDays: number;
  readonly log: IngestLog;
  /**
   * Interval of polling for events stored by other processes, in milliseconds; absent for a single process, as with
   * an embedded ClickHouse.
   */
  readonly tailIntervalMs?: number | undefined;
  /** Name of the cluster that holds the events, absent for a single node. */
  readonly cluster?: string | undefined;
  /** Called for every event that is dropped as a repeat. Runs within the request, so it must not wait. */
  readonly onRepeat?: (event: ValidEvent, now: Instant) => void;
}

interface IngestOutcome {
  /** Events newly stored by this request. */
  readonly accepted: number;
  /** Events whose id was accepted before within the window, or earlier in the same request. */
  readonly duplicates: number;
}

interface IngestStats {
  readonly acceptedTotal: number;
  readonly duplicatesTotal: number;
  readonly ids: number;
  readonly indexBytes: number;
  readonly waitingRows: number;
  readonly waitingBytes: number;
  readonly batches: number;
  readonly failedBatches: number;
  /** Rows read in looking for what other processes have stored. */
  readonly tailedRows: number;
  readonly failedTails: number;
  /** Copies of events that were removed because another process had accepted the same id before. */
  readonly conflictsRemoved: number;
}

export interface Ingest {
  /**
   * Stores the events of a raw request body. Resolves when every one of them, duplicates included, is
   * on disk. Refuses as `invalid` (with `details.errors`, nothing stored), `overloaded` (nothing
   * stored, try later) or `unavailable` (not acknowledged, send it again).
   */
  ingest(body: Buffer): Promise<IngestOutcome>;
  /** Reads the ids of the window from ClickHouse. Until it is done once, `ingest` refuses. Starts the tail. */
  rebuild(): Promise<{ ids: number }>;
  /**
   * Reads what other processes have stored up to now, and removes the later ones of conflicting copies. Runs
   * automatically every `tailIntervalMs`. Rejects if ClickHouse does not answer.
   */
  tail(): Promise<{ rows: number }>;
  stats(): IngestStats;
  /** Refuses new events, writes those accepted and resolves when they are on disk. */
  close(): Promise<void>;
}

interface NewEvents {
  readonly events: readonly ValidEvent[];
  readonly repeats: readonly ValidEvent[];
  /** Hashes of `events` one after the other, in an array that may be longer. */
  readonly hashes: Uint32Array;
  readonly bytesMax: number;
}

interface Taken extends IngestOutcome {
  readonly durable: Promise<void> | undefined;
}

export function createIngest(options: IngestOptions): Ingest {
  const { clickhouse, clock, windowDays, log, onRepeat } = options;
  const index = createDeduplicationIndex((windowDays * DAY_MS) / 1000);
  const encoder = createRowEncoder();
  const writer = createBatchWriter({
    insert: (rows) =>
      clickhouse.insertRows({ table: USAGE_EVENTS_TABLE, columns: USAGE_EVENTS_COLUMNS, rows }),
    onFailure: (error, rows) => log.error({ err: error, rows }, 'a batch of events could not be written'),
  });
  const sharing = createSharing({ ...options, index, settled: () => writer.settled() });
  let isReady = false;
  let acceptedTotal = 0;
  let duplicatesTotal = 0;

  /** Reserves the ids and returns the events whose id is new. Synchronous, so no other request comes in between. */
  function reserveNew(events: readonly ValidEvent[], now: Instant): NewEvents {
    const hashes = new Uint32Array(events.length * HASH_WORDS);
    const nowSeconds = Math.floor(now / 1000);
    const fresh: ValidEvent[] = [];
    const repeats: ValidEvent[] = [];
    let bytesMax = 0;
    for (const event of events) {
      // The hash of a duplicate is overwritten by the next one: only new ones stay in the list.
      const at = fresh.length * HASH_WORDS;
      hashTransactionId(event.transactionId, hashes, at);
      if (!index.reserve(hashes, at, nowSeconds, Math.floor(event.timestamp / 1000))) {
        repeats.push(event);
        continue;
      }
      bytesMax += rowBytesMax(event);
      fresh.push(event);
    }
    return { events: fresh, repeats, hashes, bytesMax };
  }

  function append({ events, hashes, bytesMax }: NewEvents, now: Instant): Promise<void> {
    const count = events.length;
    const write = (buffer: Buffer, offset: number): number => {
      let end = offset;
      for (const [i, event] of events.entries()) {
        end = encoder.encode(event, hashes, i * HASH_WORDS, now, buffer, end);
      }
      return end;
    };
    const release = releaseLater(hashes, count);
    try {
      return writer.append({ count, bytesMax, write }, release);
    } catch (error) {
      // If the id stayed reserved without its event, every retry would be dropped as a duplicate.
      release();
      throw error;
    }
  }

  function releaseLater(hashes: Uint32Array, count: number): () => void {
    return () => {
      for (let i = 0; i < count; i += 1) index.release(hashes, i * HASH_WORDS);
    };
  }

  /** Everything up to the append, synchronously. Apart from `ingest`, so that no await keeps the parsed body alive. */
  function take(body: Buffer): Taken {
    if (!isReady) throw new Refusal('unavailable', 'the service is starting, send the events again');
    const now = clock.now();
    const validation = validateEvents(body, { now, windowDays });
    if (!('events' in validation)) {
      throw new Refusal('invalid', validation.message, { details: { errors: validation.errors } });
    }
    writer.checkRoom();
    const fresh = reserveNew(validation.events, now);
    const count = fresh.events.length;
    const duplicates = fresh.repeats.length;
    const written = count > 0 ? append(fresh, now) : undefined;
    // Only after the new events are in their batch, so that a failure here does not affect them.
    if (onRepeat !== undefined) for (const event of fresh.repeats) onRepeat(event, now);
    // The first copy of a duplicate may still be on its way: it must be on disk before the answer is 200.
    return { accepted: count, duplicates, durable: duplicates > 0 ? writer.settled() : written };
  }

  async function ingest(body: Buffer): Promise<IngestOutcome> {
    const { accepted, duplicates, durable } = take(body);
    await durable;
    acceptedTotal += accepted;
    duplicatesTotal += duplicates;
    return { accepted, duplicates };
  }

  return {
    ingest,
    async rebuild() {
      await sharing.begin();
      const { lastTick, suspects } = await rebuildIndex(clickhouse, index, clock.now(), windowDays);
      await sharing.reconcile(suspects);
      encoder.startAfter(lastTick);
      isReady = true;
      sharing.start();
      return { ids: index.size };
    },
    tail: () => sharing.tail(),
    stats: () => ({
      acceptedTotal,
      duplicatesTotal,
      ids: index.size,
      indexBytes: index.bytes,
      ...writer.stats(),
      ...sharing.stats(),
    }),
    async close() {
      await writer.close();
      await sharing.close();
    },
  };
}
