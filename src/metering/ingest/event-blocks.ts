/**
 * Acknowledged events on their way from the log to ClickHouse. Rows are appended to the log, which makes them durable,
 * and collected into a block; blocks are inserted one at a time, in order, when they are large or a second old.
 *
 * Owns the blocks, their retries and the reads that wait for them. A failed insert is retried until it succeeds, with
 * only the rows that the failed attempt has not stored. Rows are removed from the log after that.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Refusal } from '../../core/errors.ts';
import { addLinks, NO_TRACER, type TraceContext, type Tracer, traceShared } from '../../core/tracing.ts';
import { backoffMs, retry } from '../../runtime/retry.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { CustomerSet } from './customer-set.ts';
import { eachRow, USAGE_EVENTS_INSERT } from './encode-events.ts';
import { withRoom } from './growing-buffer.ts';
import { missingRows } from './missing-rows.ts';
import { createPace } from './pace.ts';

/** The durable store of rows until ClickHouse has them. */
export interface EventLog {
  /** Resolves when these rows are on disk, with the number of their record: one more than the previous one. */
  append(rows: Buffer, count: number): Promise<number>;
  /** The records that were appended and not removed, in order. */
  entries(): Iterable<{ readonly number: number; readonly count: number; readonly rows: Buffer }>;
  /** Removes records: ClickHouse has all of them up to this one. */
  removeUpTo(number: number): Promise<void>;
  close(): Promise<void>;
}

export interface EventBlocksOptions {
  readonly clickhouse: ClickHouse;
  readonly log: EventLog;
  readonly tracer?: Tracer;
  /** Called for every failed insert, which is retried. */
  readonly onFailure?: (error: unknown, rows: number) => void;
}

export interface EventBlocks {
  /**
   * Resolves when these encoded rows are durable and every later `visible` includes them. Waits while there is no room;
   * rejects if there is none for long, or the log cannot be written: then they are not acknowledged. `requests`: the
   * traces of their requests.
   */
  append(rows: Buffer, count: number, requests?: readonly TraceContext[]): Promise<void>;
  /**
   * Resolves when ClickHouse has every row that was appended for one of these customer references; null: for any.
   * Rejects with an `unavailable` refusal while inserts fail.
   */
  visible(refs: readonly string[] | null): Promise<void>;
  stats(): { waitingRows: number; waitingBytes: number; inserts: number; failedInserts: number };
  /** Resolves when ClickHouse has everything, or refuses it: then the log keeps it for the next start. */
  close(): Promise<void>;
}

/** Larger blocks are hardly cheaper per row, and a read may have to wait for one. */
const BLOCK_ROWS_MAX = 100_000;
const BLOCK_BYTES_MAX = 32 * 1024 * 1024;
/** An insert of few rows costs 15 ms of CPU time, so one a second is 1.5 % of a core. */
const BLOCK_AGE_MS_MAX = 1_000;
/**
 * How often reads close blocks: reads beyond this share the next insert, which is at most a tenth of a second away. A
 * burst of this many may do so at once, then one per interval, which is a seventh of a core.
 */
const READ_BLOCKS_AT_ONCE = 10;
const READ_BLOCK_MS = 100;
/** Maximum closed blocks, including the one being inserted. */
const BLOCKS_WAITING_MAX = 2;
/** The maximum for all blocks together. Reads close small ones, so the number of blocks alone is no limit. */
const ROWS_WAITING_MAX = (BLOCKS_WAITING_MAX + 1) * BLOCK_ROWS_MAX;
const BYTES_WAITING_MAX = (BLOCKS_WAITING_MAX + 1) * BLOCK_BYTES_MAX;
const BUFFER_BYTES_MIN = 256 * 1024;
/** A batch that finds no room for this long is refused; its senders have no answer yet. */
const ROOM_WAIT_MS_MAX = 10_000;
const BACKOFF = { firstMs: 100, maxMs: 5_000 };

/** Rows that are inserted together. */
interface Block {
  /** The number of its last record. */
  last: number;
  /** Its first `bytes` are the rows. */
  buffer: Buffer;
  /** Null if unknown. */
  readonly customers: CustomerSet | null;
  readonly requests: TraceContext[];
  /** An earlier insert may have stored some of the rows. */
  isPartlyStored: boolean;
  rows: number;
  bytes: number;
  /** Settles with the block's first attempt and is replaced after a failed one. */
  attempt: Attempt;
}

interface Attempt {
  readonly ended: Promise<void>;
  readonly succeed: () => void;
  readonly fail: (reason: unknown) => void;
}

/** Resumes with the rows in the log: those of a process that ended before ClickHouse had them. */
export function createEventBlocks(options: EventBlocksOptions): EventBlocks {
  return new LoggedBlocks(options);
}

class LoggedBlocks implements EventBlocks {
  readonly #options: EventBlocksOptions;
  #open: Block | null = null;
  /**
   * The buffer of an inserted block, reused: a new one for each block is garbage that makes V8 collect its whole heap.
   */
  #spare: Buffer | null = null;
  /** In order; the first one is being inserted. */
  readonly #closed: Block[] = [];
  #timer: NodeJS.Timeout | null = null;
  /** Set while reads wait for the open block. */
  #readsTimer: NodeJS.Timeout | null = null;
  readonly #readRoom = createPace(READ_BLOCKS_AT_ONCE, READ_BLOCK_MS);
  #inserting: Promise<void> | null = null;
  #onRoom: (() => void) | null = null;
  #inserts = 0;
  #failedInserts = 0;
  readonly #end = new AbortController();

  constructor(options: EventBlocksOptions) {
    this.#options = options;
    for (const { number, rows, count } of options.log.entries())
      this.#collect(number, rows, count, { areNew: false });
    this.#closeOpen();
  }

  async append(rows: Buffer, count: number, requests: readonly TraceContext[] = []): Promise<void> {
    if (this.#isFull()) await this.#room();
    const number = await this.#options.log.append(rows, count);
    this.#collect(number, rows, count, { areNew: true, requests });
    this.#timer ??= setTimeout(() => this.#closeOpen(), BLOCK_AGE_MS_MAX);
  }

  async visible(refs: readonly string[] | null): Promise<void> {
    const concerns = ({ customers }: Block) =>
      refs === null || customers === null || refs.some((ref) => customers.mayHave(ref));
    const blocks = this.#open === null ? this.#closed : [...this.#closed, this.#open];
    const attempts = blocks.filter(concerns).map(({ attempt }) => attempt.ended);
    if (this.#open !== null && concerns(this.#open)) this.#closeForReads();
    if (attempts.length > 0) await Promise.all(attempts);
  }

  /** A read does not force a separate insert: reads shortly after wait for the next one. */
  #closeForReads(): void {
    if (this.#readsTimer !== null) return;
    const waitMs = this.#readRoom.take();
    if (waitMs === 0) this.#closeOpen();
    else this.#readsTimer = setTimeout(() => this.#closeOpen(), waitMs);
  }

  stats() {
    const blocks = this.#open === null ? this.#closed : [...this.#closed, this.#open];
    return {
      waitingRows: blocks.reduce((sum, { rows }) => sum + rows, 0),
      waitingBytes: blocks.reduce((sum, { bytes }) => sum + bytes, 0),
      inserts: this.#inserts,
      failedInserts: this.#failedInserts,
    };
  }

  async close(): Promise<void> {
    this.#closeOpen();
    this.#end.abort();
    await this.#inserting;
  }

  #isFull(): boolean {
    const { waitingRows, waitingBytes } = this.stats();
    return waitingRows >= ROWS_WAITING_MAX || waitingBytes >= BYTES_WAITING_MAX;
  }

  /** One caller at a time: batches are appended one after another. */
  async #room(): Promise<void> {
    const timeUp = delay(ROOM_WAIT_MS_MAX, false, { ref: false });
    while (this.#isFull()) {
      const room = new Promise<boolean>((resolve) => {
        this.#onRoom = () => resolve(true);
      });
      const isRoom = await Promise.race([room, timeUp]);
      this.#onRoom = null;
      if (!isRoom) throw new Error('ClickHouse has not taken the events before these for too long');
    }
  }

  /**
   * Copies logged rows to the open block. Rows that are not new belong to an earlier process, which may have inserted
   * some, and all reads wait for them.
   */
  #collect(
    number: number,
    rows: Buffer,
    count: number,
    { areNew, requests = [] }: { readonly areNew: boolean; readonly requests?: readonly TraceContext[] },
  ): void {
    if (this.#open !== null && isLarge(this.#open)) this.#closeOpen();
    this.#open ??= this.#newBlock(areNew);
    const block = this.#open;
    block.last = number;
    block.buffer = withRoom(block.buffer, block.bytes, block.bytes + rows.length);
    rows.copy(block.buffer, block.bytes);
    block.rows += count;
    block.bytes += rows.length;
    addLinks(block.requests, requests);
    const known = block.customers;
    if (known !== null) eachRow(rows, (_start, _end, from, to) => known.add(rows, from, to));
    if (isLarge(block) && this.#closed.length < BLOCKS_WAITING_MAX) this.#closeOpen();
  }

  #newBlock(areNew: boolean): Block {
    const buffer = this.#spare ?? Buffer.allocUnsafeSlow(BUFFER_BYTES_MIN);
    this.#spare = null;
    return {
      last: 0,
      buffer,
      customers: areNew ? new CustomerSet() : null,
      requests: [],
      isPartlyStored: !areNew,
      rows: 0,
      bytes: 0,
      attempt: newAttempt(),
    };
  }

  #closeOpen(): void {
    for (const timer of [this.#timer, this.#readsTimer]) if (timer !== null) clearTimeout(timer);
    this.#timer = null;
    this.#readsTimer = null;
    if (this.#open === null) return;
    this.#closed.push(this.#open);
    this.#open = null;
    this.#inserting ??= this.#insertAll();
  }

  /** Requires at least one block. */
  async #insertAll(): Promise<void> {
    const options = {
      name: 'blocks of events',
      isTransient: () => true,
      pauseMs: (failures: number) => backoffMs(failures, BACKOFF),
      signal: this.#end.signal,
    };
    try {
      for (let block = this.#closed[0]; block !== undefined; block = this.#closed[0]) {
        const next = block;
        const insert = () => this.#insert(next);
        const isStored = await retry(insert, options).then(
          () => true,
          () => false,
        );
        // The log keeps rows that cannot be written at the end.
        if (!isStored) return;
        await this.#forget(next);
      }
    } finally {
      // In the same turn as the last check: a block closed in between would not be inserted.
      this.#inserting = null;
    }
  }

  /** ClickHouse has the block when it resolves. */
  async #insert(block: Block): Promise<void> {
    const { onFailure } = this.#options;
    const { attempt } = block;
    try {
      await this.#insertRows(block);
    } catch (error) {
      this.#failedInserts += 1;
      block.isPartlyStored = true;
      block.attempt = newAttempt();
      onFailure?.(error, block.rows);
      attempt.fail(new Refusal('unavailable', 'acknowledged events cannot be read at the moment, try again'));
      throw error;
    }
  }

  /** ClickHouse has the block now. */
  async #forget(block: Block): Promise<void> {
    const { log, onFailure } = this.#options;
    this.#inserts += 1;
    this.#closed.shift();
    this.#spare = block.buffer;
    block.attempt.succeed();
    if (this.#open !== null && isLarge(this.#open)) this.#closeOpen();
    this.#onRoom?.();
    // At the next start, blocks that stay in the log are found to be stored.
    await log.removeUpTo(block.last).catch((error: unknown) => onFailure?.(error, 0));
  }

  async #insertRows({ buffer, bytes, rows: count, requests, isPartlyStored }: Block): Promise<void> {
    const { clickhouse, tracer = NO_TRACER } = this.#options;
    const shared = { links: requests, facts: { 'tallyhouse.events': count } };
    await traceShared(tracer, 'insert events into ClickHouse', shared, async () => {
      const all = buffer.subarray(0, bytes);
      const rows = isPartlyStored ? await missingRows(clickhouse, all) : all;
      if (rows.length > 0) await clickhouse.insertRows({ ...USAGE_EVENTS_INSERT, rows });
    });
  }
}

function isLarge({ rows, bytes }: Block): boolean {
  return rows >= BLOCK_ROWS_MAX || bytes >= BLOCK_BYTES_MAX;
}

function newAttempt(): Attempt {
  let succeed = () => {};
  let fail: (reason: unknown) => void = () => {};
  const ended = new Promise<void>((resolve, reject) => {
    succeed = resolve;
    fail = reject;
  });
  // Prevents an unhandled rejection if nothing is waiting.
  ended.catch(() => {});
  return { ended, succeed, fail };
}
