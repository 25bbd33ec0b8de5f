/**
 * Reads the ids that other processes store: queries ClickHouse for the tenths of the last seconds with new rows, reads
 * the hashes of those tenths into the index, and reports ids that are stored twice. docs/explanation/deduplication.md
 * states the guarantees and delays.
 *
 * Rows become visible out of order (clocks differ, inserts take their time), so a single high-water mark is not enough.
 * Instead each tenth of a second of acceptance has a count and a checksum; while these stay the same, it is not read
 * again. Copies are counted in the whole second, which is the resolution of the index. Does not remove copies
 * (`reconcile-copies.ts`) or schedule itself (`sharing.ts`).
 */
import { z } from 'zod';
import { type Instant, SECOND_MS } from '../../core/time.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import type { DeduplicationIndex } from './deduplication-index.ts';
import { USAGE_EVENTS_TABLE } from './encode-events.ts';
import { AHEAD_SECONDS_SQL } from './rebuild-index.ts';
import { wordsOf } from './row-words.ts';
import { HASH_WORDS } from './transaction-hash.ts';

/** The time that every look covers: slightly different clocks, inserts of usual length. */
const NEAR_MS = 10_000;
/** The time that every wide look covers: longer than the longest insert, which times out after 11 minutes. */
const FAR_MS = 15 * 60_000;
/** One of this many looks is wide. With one look a second, a late row is known within a minute. */
const LOOKS_PER_WIDE_LOOK = 60;
/** Rows added to the index without a pause: some 20 ms in which no request is answered. */
const ROWS_PER_SLICE = 100_000;
/** Rows whose slots are prefetched together. */
const ROWS_TOGETHER = 256;
/** A wide look after a pause may have to read a lot; it must not fail because of a limit meant for requests. */
const SECONDS_MAX = 120;

const TENTH_MS = SECOND_MS / 10;

const tenthRow = z.object({ tenth: z.string(), rows: z.string(), mark: z.number() });

type TenthRow = z.infer<typeof tenthRow>;

/** Tenths of a second since the epoch. */
const TENTH_SQL = `intDiv(toUnixTimestamp64Milli(ingested_at), ${TENTH_MS})`;

const TENTHS_SQL = `
  SELECT ${TENTH_SQL} AS tenth, count() AS rows, groupBitXor(id_hash_b) AS mark
  FROM ${USAGE_EVENTS_TABLE}
  WHERE ingested_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
  GROUP BY tenth`;

/**
 * The columns of a row: hash, second, the number of rows of that second with the hash, and how far ahead they are
 * dated.
 */
const ROW_WORDS = HASH_WORDS + 3;
const SECOND = HASH_WORDS;
const COPIES = HASH_WORDS + 1;
const AHEAD = HASH_WORDS + 2;

const ROWS_SQL = `
  SELECT id_hash_a, id_hash_b, id_hash_c, toUInt32(toUnixTimestamp(ingested_at)) AS second, toUInt32(count()),
    max(${AHEAD_SECONDS_SQL})
  FROM ${USAGE_EVENTS_TABLE}
  WHERE ingested_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
    AND toUInt32(toUnixTimestamp(ingested_at)) IN {seconds:Array(UInt32)}
    AND id_hash_a % {slices:UInt32} = {slice:UInt32}
  GROUP BY id_hash_a, id_hash_b, id_hash_c, second
  HAVING max(${TENTH_SQL} IN {tenths:Array(Int64)})
  FORMAT RowBinary`;

export interface TailOptions {
  readonly clickhouse: ClickHouse;
  readonly index: Pick<DeduplicationIndex, 'add' | 'approach'>;
  /** Called with the first hash words of ids that seem to be stored twice. */
  readonly onSuspects: (hashes: ReadonlySet<number>) => void;
}

export interface Tail {
  /** Marks everything stored so far as read. Call it before the index is built from it, not after. */
  begin(now: Instant): Promise<void>;
  /** Looks once, further back every sixtieth time and if `isWide` is set. Returns the number of rows read. */
  look(now: Instant, isWide?: boolean): Promise<number>;
}

export function createTail(options: TailOptions): Tail {
  return new TenthsTail(options);
}

class TenthsTail implements Tail {
  readonly #options: TailOptions;
  /** The rows read for each tenth, as `rows` and `mark` at that time. */
  readonly #read = new Map<number, string>();
  #looks = 0;
  /** The clock at the last look and at the last wide one: a sandbox clock may jump between two. */
  #nearAt: Instant = 0;
  #farAt: Instant = 0;

  constructor(options: TailOptions) {
    this.#options = options;
  }

  async begin(now: Instant): Promise<void> {
    this.#nearAt = now;
    this.#farAt = now;
    for (const row of await this.#tenths(now - FAR_MS)) this.#read.set(Number(row.tenth), contentOf(row));
  }

  async look(now: Instant, isWide = false): Promise<number> {
    this.#looks += 1;
    const isFar = isWide || this.#looks % LOOKS_PER_WIDE_LOOK === 0;
    const from = isFar ? Math.min(this.#farAt, now) - FAR_MS : Math.min(this.#nearAt, now) - NEAR_MS;
    const changed = (await this.#tenths(from)).filter(
      (row) => this.#read.get(Number(row.tenth)) !== contentOf(row),
    );
    const rows = changed.length === 0 ? 0 : await this.#takeIn(changed, now);
    for (const row of changed) this.#read.set(Number(row.tenth), contentOf(row));
    this.#nearAt = now;
    if (isFar) {
      this.#farAt = now;
      for (const tenth of this.#read.keys())
        if (tenth * TENTH_MS < now - 2 * FAR_MS) this.#read.delete(tenth);
    }
    return rows;
  }

  async #tenths(from: Instant): Promise<TenthRow[]> {
    return await this.#options.clickhouse.query({
      sql: TENTHS_SQL,
      params: { from: Math.max(0, from) },
      settings: { max_execution_time: SECONDS_MAX },
      schema: tenthRow,
    });
  }

  async #takeIn(changed: readonly TenthRow[], now: Instant): Promise<number> {
    const tenths = changed.map(({ tenth }) => Number(tenth));
    const seconds = [...new Set(tenths.map((tenth) => Math.floor((tenth * TENTH_MS) / SECOND_MS)))];
    const total = changed.reduce((sum, { rows }) => sum + Number(rows), 0);
    const slices = Math.ceil(total / ROWS_PER_SLICE);
    const nowSeconds = Math.floor(now / 1000);
    let read = 0;
    for (let slice = 0; slice < slices; slice += 1) {
      const bytes = await this.#options.clickhouse.queryBytes({
        sql: ROWS_SQL,
        params: { from: Math.min(...seconds) * SECOND_MS, seconds, tenths, slices, slice },
        settings: { max_execution_time: SECONDS_MAX },
      });
      const rows = wordsOf(bytes, ROW_WORDS);
      read += rows.length / ROW_WORDS;
      const suspects = addRows(this.#options.index, rows, nowSeconds);
      if (suspects.size > 0) this.#options.onSuspects(suspects);
    }
    return read;
  }
}

function contentOf({ rows, mark }: TenthRow): string {
  return `${rows} ${mark}`;
}

/** Adds rows to the index. Returns the first hash words of ids that another row, or this process, accepted as well. */
function addRows(index: TailOptions['index'], rows: Uint32Array, nowSeconds: number): Set<number> {
  const suspects = new Set<number>();
  for (let at = 0; at < rows.length; at += ROW_WORDS) {
    if (at % (ROWS_TOGETHER * ROW_WORDS) === 0) {
      const next = rows.subarray(at, at + ROWS_TOGETHER * ROW_WORDS);
      index.approach(next, next.length / ROW_WORDS, ROW_WORDS);
    }
    const second = rows[at + SECOND] ?? 0;
    const stored = { acceptedSeconds: second, aheadSeconds: rows[at + AHEAD] ?? 0 };
    const heldSecond = index.add(rows, at, stored, nowSeconds);
    const isElsewhere = heldSecond !== null && heldSecond !== second;
    if (isElsewhere || (rows[at + COPIES] ?? 0) > 1) suspects.add(rows[at] ?? 0);
  }
  return suspects;
}
