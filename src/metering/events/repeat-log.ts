/**
 * Records events that were dropped as repeats, so that event search can show them.
 *
 * Holds a short queue, which is written at a limited rate. It does not slow down ingest: adding a repeat is a push,
 * nothing waits for the write, and the write does not use the connection for inserts of events. Repeats beyond the
 * limits are only counted, and a crash loses the queue. Repeats are never billed, so only their display is lost.
 */
import type { Instant } from '../../core/time.ts';
import { createSerialQueue } from '../../runtime/serial-queue.ts';
import { NO_EVENTS } from '../client/around.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { stringLiteral } from '../client/clickhouse-parameters.ts';
import { type ReadEvent, textsJson } from '../ingest/event-rows.ts';

/**
 * A sample of this size is enough to show a sender that repeats everything; storing all repeats would double the data.
 */
const REPEATS_PER_SECOND_MAX = 100;
/** Burst size before the rate applies: a retry of ten full requests is stored completely. */
const BURST_MAX = 1_000;
/** Limits the queue, and with it the statement that writes it. */
const QUEUE_LENGTH_MAX = 2 * 1024 * 1024;
/** At most one statement a second; a search does not wait for it but flushes the queue itself. */
const WRITE_INTERVAL_MS = 1_000;

export interface RepeatLog {
  /** Records an event that was dropped at `now`. Synchronous and cheap: it reads only events that it stores. */
  note(read: () => ReadEvent, now: Instant): void;
  /** Resolves when the repeats recorded so far can be found, or could not be written and are lost. */
  flush(): Promise<void>;
  /** Repeats written, and repeats lost to the limits or to a failed write. */
  stats(): { written: number; lost: number };
  /** Writes the rest of the queue. Later repeats are lost. */
  close(): Promise<void>;
}

export interface RepeatLogOptions {
  readonly clickhouse: ClickHouse;
  /** Monotonic milliseconds, for the rate limit only; not the clock of the service. */
  readonly elapsed?: () => number;
}

export function createRepeatLog(options: RepeatLogOptions): RepeatLog {
  return new QueuedLog(options.clickhouse, options.elapsed ?? (() => performance.now()));
}

interface Repeat {
  readonly event: ReadEvent;
  readonly receivedAt: Instant;
  readonly sequence: number;
}

class QueuedLog implements RepeatLog {
  readonly #clickhouse: ClickHouse;
  readonly #elapsed: () => number;
  #queue: Repeat[] = [];
  #queueLength = 0;
  #allowance = BURST_MAX;
  #allowanceAt: number;
  #sequence = 0;
  #timer: NodeJS.Timeout | null = null;
  readonly #writes = createSerialQueue('repeats of events');
  #isClosed = false;
  #written = 0;
  #lost = 0;

  constructor(clickhouse: ClickHouse, elapsed: () => number) {
    this.#clickhouse = clickhouse;
    this.#elapsed = elapsed;
    this.#allowanceAt = elapsed();
  }

  note(read: () => ReadEvent, now: Instant): void {
    if (this.#isClosed || this.#queueLength >= QUEUE_LENGTH_MAX || !this.#takeAllowance()) {
      this.#lost += 1;
      return;
    }
    const event = read();
    const length = lengthOf(event);
    if (this.#queueLength + length > QUEUE_LENGTH_MAX) {
      this.#lost += 1;
      return;
    }
    this.#sequence = (this.#sequence + 1) % 0x1_0000_0000;
    this.#queue.push({ event, receivedAt: now, sequence: this.#sequence });
    this.#queueLength += length;
    this.#timer ??= setTimeout(() => void this.flush(), WRITE_INTERVAL_MS).unref();
  }

  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const repeats = this.#queue;
    if (repeats.length > 0) {
      this.#queue = [];
      this.#queueLength = 0;
      void this.#writes.run(() => this.#write(repeats));
    }
    return this.#writes.idle();
  }

  stats(): { written: number; lost: number } {
    return { written: this.#written, lost: this.#lost };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
  }

  /** The allowance is refilled evenly. */
  #takeAllowance(): boolean {
    const now = this.#elapsed();
    const refill = ((now - this.#allowanceAt) * REPEATS_PER_SECOND_MAX) / 1_000;
    this.#allowance = Math.min(BURST_MAX, this.#allowance + refill);
    this.#allowanceAt = now;
    if (this.#allowance < 1) return false;
    this.#allowance -= 1;
    return true;
  }

  async #write(repeats: readonly Repeat[]): Promise<void> {
    try {
      await this.#clickhouse.command(insertStatement(repeats), { eventsOf: NO_EVENTS });
      this.#written += repeats.length;
    } catch {
      // The statistics count the loss; nothing waits for a repeat.
      this.#lost += repeats.length;
    }
  }
}

function insertStatement(repeats: readonly Repeat[]): string {
  const columns = 'transaction_id, customer_ref, event_type, timestamp, properties, received_at, sequence';
  return `INSERT INTO event_repeats (${columns}) VALUES ${repeats.map(rowOf).join(', ')}`;
}

function lengthOf({ transactionId, customerRef, eventType, properties }: ReadEvent): number {
  const ids = transactionId.length + customerRef.length + eventType.length;
  return properties.reduce((sum, [name, text]) => sum + name.length + text.length, ids);
}

function rowOf({ event, receivedAt, sequence }: Repeat): string {
  const { transactionId, customerRef, eventType, properties } = event;
  const texts = [transactionId, customerRef, eventType, textsJson(properties)].map(stringLiteral);
  const [id, ref, type, json] = texts;
  const at = (instant: Instant) => `fromUnixTimestamp64Milli(${instant}, 'UTC')`;
  return `(${id}, ${ref}, ${type}, ${at(event.timestamp)}, ${json}, ${at(receivedAt)}, ${sequence})`;
}
