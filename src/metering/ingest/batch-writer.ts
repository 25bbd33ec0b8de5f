/**
 * Group commit: rows of many requests become one write. While one batch is being written the next one fills; each
 * caller is notified when the batch with its rows is on disk.
 *
 * Owns the two buffers, the pace of inserts and the limit on waiting rows. Does not retry: a failed batch fails its
 * callers, and clients send it again (docs/explanation/deduplication.md, "What a refusal means").
 */
import { Refusal } from '../../core/errors.ts';
import { withRoom } from './growing-buffer.ts';

export interface BatchWriterOptions {
  /** Writes this many encoded rows; resolves when they are on disk. The buffer is reused afterwards. */
  readonly insert: (rows: Buffer, count: number) => Promise<void>;
  readonly pace: WritePace;
  /** Called for every failed batch with the reason, before its callers are notified. */
  readonly onFailure: (error: unknown, rows: number) => void;
  /** Called when the write of a batch begins, so that the next one has room. */
  readonly onRoom?: () => void;
}

/** Larger batches make inserts only slightly cheaper per row, and all their requests wait longer. */
const BATCH_ROWS_MAX = 100_000;
/** Maximum bytes that wait for the batch before; with the batch being written, memory holds twice this. */
const BATCH_BYTES_MAX = 32 * 1024 * 1024;

/** When a batch is written. */
export interface WritePace {
  /** A batch of this size is written without a pause, because most of its cost is per row. */
  readonly eagerRows: number;
  /** How long a single request waits for others, so that a burst becomes one write. */
  readonly lingerMs: number;
  /** After a write it pauses for the duration of that write, within these bounds. */
  readonly restMsMin: number;
  readonly restMsMax: number;
}

/** Each insert creates a part, which is merged later: fewer and larger ones are cheaper, and p99 waits for merges. */
export const PACE_OF_INSERTS: WritePace = { eagerRows: 10_000, lingerMs: 2, restMsMin: 20, restMsMax: 40 };
/** A commit of the log costs a fraction of a millisecond. */
export const PACE_OF_LOG: WritePace = { eagerRows: 1_000, lingerMs: 1, restMsMin: 0, restMsMax: 4 };

const BUFFER_BYTES_MIN = 256 * 1024;

/** A group of rows that become durable, or fail, together. */
interface Batch {
  buffer: Buffer;
  length: number;
  rows: number;
  readonly onFailed: (() => void)[];
  readonly durable: Promise<void>;
  readonly settle: { resolve: () => void; reject: (reason: unknown) => void };
}

/** Rows that encode themselves into the buffer of their batch. */
export interface RowsToWrite {
  readonly count: number;
  readonly bytesMax: number;
  /** Writes from `offset` on and returns the offset of the end. */
  write(buffer: Buffer, offset: number): number;
}

export interface BatchWriter {
  /** Throws an `unavailable` refusal after `close`. */
  checkOpen(): void;
  /** Whether more rows can be queued. */
  hasRoom(): boolean;
  /** Throws an `overloaded` refusal if no more rows can be queued. Call it before any irreversible step. */
  checkRoom(): void;
  /**
   * Adds rows to the open batch, synchronously. Resolves when they are on disk; rejects with an `unavailable` refusal
   * if they could not be written. `onFailed` runs first in that case.
   */
  append(rows: RowsToWrite, onFailed: () => void): Promise<void>;
  /** Resolves when all appended rows are on disk; rejects if some of them failed. */
  drained(): Promise<void>;
  /** The encoded rows that were appended first among those not on disk yet; null if there are none. */
  oldest(): Buffer | null;
  /** Appended rows and bytes that are not on disk yet, and the number of inserts. */
  stats(): { waitingRows: number; waitingBytes: number; batches: number; failedBatches: number };
  /** Flushes the rest and resolves; later appends are refused as `unavailable`. */
  close(): Promise<void>;
}

export function createBatchWriter(options: BatchWriterOptions): BatchWriter {
  return new GroupCommit(options);
}

class GroupCommit implements BatchWriter {
  readonly #options: BatchWriterOptions;
  #open: Batch | null = null;
  #writing: Batch | null = null;
  #spare: Buffer | null = null;
  #timer: NodeJS.Timeout | null = null;
  #restUntil = 0;
  #batches = 0;
  #failedBatches = 0;
  #isClosed = false;

  constructor(options: BatchWriterOptions) {
    this.#options = options;
  }

  checkOpen(): void {
    if (this.#isClosed)
      throw new Refusal('unavailable', 'the service is shutting down, send the events again');
  }

  hasRoom(): boolean {
    const open = this.#open;
    return open === null || (open.length < BATCH_BYTES_MAX && open.rows < BATCH_ROWS_MAX);
  }

  checkRoom(): void {
    this.checkOpen();
    if (!this.hasRoom()) {
      throw new Refusal('overloaded', 'too many events are waiting to be written, try again in a moment');
    }
  }

  append(rows: RowsToWrite, onFailed: () => void): Promise<void> {
    this.#open ??= this.#newBatch();
    const batch = this.#open;
    try {
      batch.buffer = withRoom(batch.buffer, batch.length, batch.length + rows.bytesMax);
      batch.length = rows.write(batch.buffer, batch.length);
      batch.rows += rows.count;
      batch.onFailed.push(onFailed);
    } finally {
      // Even if allocation failed for these rows: other requests may wait for this batch.
      this.#schedule();
    }
    return batch.durable;
  }

  async drained(): Promise<void> {
    await Promise.all([this.#writing?.durable, this.#open?.durable]);
  }

  oldest(): Buffer | null {
    for (const batch of [this.#writing, this.#open]) {
      if (batch !== null && batch.length > 0) return batch.buffer.subarray(0, batch.length);
    }
    return null;
  }

  stats(): { waitingRows: number; waitingBytes: number; batches: number; failedBatches: number } {
    const waiting = [this.#open, this.#writing].filter((batch) => batch !== null);
    return {
      waitingRows: waiting.reduce((total, batch) => total + batch.rows, 0),
      waitingBytes: waiting.reduce((total, batch) => total + batch.length, 0),
      batches: this.#batches,
      failedBatches: this.#failedBatches,
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#schedule();
    await Promise.allSettled([this.#writing?.durable, this.#open?.durable]);
  }

  #newBatch(): Batch {
    const { promise, resolve, reject } = deferred();
    const buffer = this.#spare ?? Buffer.allocUnsafeSlow(BUFFER_BYTES_MIN);
    this.#spare = null;
    return { buffer, length: 0, rows: 0, onFailed: [], durable: promise, settle: { resolve, reject } };
  }

  /** Starts the open batch now, or schedules its start. */
  #schedule(): void {
    const batch = this.#open;
    if (batch === null || this.#writing !== null) return;
    const waitMs = Math.ceil(this.#restUntil - performance.now());
    if (this.#isClosed || batch.rows >= this.#options.pace.eagerRows) {
      void this.#flush(batch);
    } else if (this.#timer === null) {
      this.#timer = setTimeout(
        () => {
          this.#timer = null;
          if (this.#open !== null && this.#writing === null) void this.#flush(this.#open);
        },
        Math.max(this.#options.pace.lingerMs, waitMs),
      );
    }
  }

  async #flush(batch: Batch): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#open = null;
    this.#writing = batch;
    this.#options.onRoom?.();
    const started = performance.now();
    try {
      await this.#options.insert(batch.buffer.subarray(0, batch.length), batch.rows);
      batch.settle.resolve();
    } catch (error) {
      this.#fail(batch, error);
    }
    this.#batches += 1;
    this.#spare = batch.buffer;
    this.#writing = null;
    const ended = performance.now();
    // Rests for the duration of the write, within bounds: at most half of the time is spent on writes of few rows.
    const { restMsMin, restMsMax } = this.#options.pace;
    this.#restUntil = ended + Math.min(restMsMax, Math.max(restMsMin, ended - started));
    this.#schedule();
  }

  #fail(batch: Batch, error: unknown): void {
    this.#failedBatches += 1;
    for (const onFailed of batch.onFailed) onFailed();
    this.#options.onFailure(error, batch.rows);
    batch.settle.reject(
      new Refusal(
        'unavailable',
        'the events could not be written; none of them was acknowledged, send them again',
      ),
    );
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void; reject: (reason: unknown) => void } {
  let resolve: () => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  // Callers hold the promise; without any left, a rejection must not end the process.
  promise.catch(() => {});
  return { promise, resolve, reject };
}
