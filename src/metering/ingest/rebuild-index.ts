/**
 * Fills the deduplication index from what is stored: the hashes and times of acceptance of every
 * event of the window, read as raw bytes in slices that bound the memory this takes.
 */
import { z } from 'zod';
import { assert } from '../../core/errors.ts';
import { DAY_MS, type Instant } from '../../core/time.ts';
import type { ClickHouse } from '../clickhouse.ts';
import { type DeduplicationIndex, WORDS_PER_SLOT } from './deduplication-index.ts';
import { USAGE_EVENTS_TABLE } from './encode-events.ts';

/** One slice is 32 MB of bytes, and a few hundred milliseconds of work. */
const ROWS_PER_SLICE = 2_000_000;

/** A start on a slow disk may take minutes; it must not fail because of a limit meant for requests. */
const SLICE_SECONDS_MAX = 600;

const SUMMARY_ROW = z.object({ events: z.coerce.number(), last_tick: z.coerce.number() });

// An event is accepted only when its timestamp is at most a window old, so one accepted within the
// window is at most two old: older partitions need not be opened.
const WITHIN_WINDOW = `
  timestamp >= fromUnixTimestamp64Milli({oldest_timestamp:Int64})
  AND ingested_at > fromUnixTimestamp64Milli({accepted_after:Int64})`;

const SUMMARY_SQL = `
  SELECT count() AS events, max(toUnixTimestamp64Micro(ingested_at)) AS last_tick
  FROM ${USAGE_EVENTS_TABLE}
  WHERE ${WITHIN_WINDOW}`;

// The order of the columns is the layout of a slot of the index.
const SLICE_SQL = `
  SELECT id_hash_a, id_hash_b, id_hash_c, toUInt32(toUnixTimestamp(ingested_at))
  FROM ${USAGE_EVENTS_TABLE}
  WHERE ${WITHIN_WINDOW} AND id_hash_a % {slices:UInt32} = {slice:UInt32}
  FORMAT RowBinary`;

/** Loads all stored ids of the window. Returns the last tick of ingestion, in microseconds (0 when empty). */
export async function rebuildIndex(
  clickhouse: ClickHouse,
  index: DeduplicationIndex,
  now: Instant,
  windowDays: number,
): Promise<{ lastTick: number }> {
  const params = {
    oldest_timestamp: now - 2 * windowDays * DAY_MS,
    accepted_after: now - windowDays * DAY_MS,
  };
  const [summary] = await clickhouse.query({
    sql: SUMMARY_SQL,
    params,
    settings: { max_execution_time: SLICE_SECONDS_MAX },
    schema: SUMMARY_ROW,
  });
  assert(summary !== undefined, 'an aggregate without groups returns one row');
  const nowSeconds = Math.floor(now / 1000);
  index.makeRoom(summary.events, nowSeconds);
  const slices = Math.ceil(summary.events / ROWS_PER_SLICE);
  const read = (slice: number): Promise<Buffer> | undefined =>
    slice < slices
      ? clickhouse.queryBytes({
          sql: SLICE_SQL,
          params: { ...params, slices, slice },
          settings: { max_execution_time: SLICE_SECONDS_MAX },
        })
      : undefined;
  // ClickHouse reads the next slice while this thread loads the one before.
  let next = read(0);
  for (let slice = 0; next !== undefined; slice += 1) {
    const bytes: Buffer = await next;
    next = read(slice + 1);
    index.load(asWords(bytes), nowSeconds);
  }
  return { lastTick: summary.last_tick };
}

/** RowBinary is little-endian, as is every machine that Node is built for except s390x. */
function asWords(bytes: Buffer): Uint32Array {
  assert(bytes.length % (WORDS_PER_SLOT * 4) === 0, 'ClickHouse returned whole slots');
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes);
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4);
}
