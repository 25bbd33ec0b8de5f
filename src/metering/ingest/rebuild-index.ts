/**
 * Fills the deduplication index from what is stored: the hashes and times of acceptance of every
 * event of the window, read as raw bytes in slices that bound the memory this takes.
 */
import { z } from 'zod';
import { assert } from '../../core/errors.ts';
import { DAY_MS, HOUR_MS, type Instant } from '../../core/time.ts';
import type { ClickHouse, QueryParams } from '../client/clickhouse.ts';
import { type DeduplicationIndex, WORDS_PER_STORED_ID } from './deduplication-index.ts';
import { AHEAD_UNIT_SECONDS, SHARDS } from './deduplication-slots.ts';
import { USAGE_EVENTS_TABLE } from './encode-events.ts';
import { FUTURE_HOURS_MAX } from './event-limits.ts';
import { wordsOf } from './row-words.ts';

/** One slice is 64 to 80 MB of bytes. Smaller ones cost more, because each reads a column of all rows. */
const ROWS_PER_SLICE = 4_000_000;

/** A start on a slow disk may take minutes; it must not fail because of a limit meant for requests. */
const SLICE_SECONDS_MAX = 600;

const SUMMARY_ROW = z.object({
  events: z.coerce.number(),
  ahead: z.coerce.number(),
  last_tick: z.coerce.number(),
});

/** By how many seconds a row is dated behind its acceptance, as UInt32. */
export const AHEAD_SECONDS_SQL =
  'toUInt32(greatest(toUnixTimestamp(timestamp) - toUnixTimestamp(ingested_at), 0))';

// By acceptance alone: a backfill stores events of any age, and their ids are remembered like all others.
// The table has the bounds of `ingested_at` for every few granules, so that older ones are not read.
const WITHIN_WINDOW = "ingested_at >= fromUnixTimestamp64Milli({accepted_from:Int64}, 'UTC')";

// Events that were dated ahead, which are few, are known until they are too old to be sent again.
const AHEAD = `ingested_at >= fromUnixTimestamp64Milli({ahead_from:Int64}, 'UTC')
    AND timestamp >= fromUnixTimestamp64Milli({dated_from:Int64}, 'UTC') AND timestamp > ingested_at`;

// A slice has all ids of its shards of the index, so that each shard is filled once.
const IN_SLICE = `id_hash_a % ${SHARDS} % {slices:UInt32} = {slice:UInt32}`;

const SUMMARY_SQL = `
  SELECT countIf(${WITHIN_WINDOW}) AS events, countIf(${AHEAD}) AS ahead,
    max(toUnixTimestamp64Micro(ingested_at)) AS last_tick
  FROM ${USAGE_EVENTS_TABLE}
  WHERE ingested_at >= fromUnixTimestamp64Milli({ahead_from:Int64}, 'UTC')`;

// The order of the columns is the layout of a stored id (`WORDS_PER_STORED_ID`).
const SLICE_SQL = `
  SELECT id_hash_a, id_hash_b, id_hash_c, toUInt32(toUnixTimestamp(ingested_at))
  FROM ${USAGE_EVENTS_TABLE}
  WHERE ${WITHIN_WINDOW} AND ${IN_SLICE}
  FORMAT RowBinary`;

const AHEAD_SLICE_SQL = `
  SELECT id_hash_a, id_hash_b, id_hash_c, toUInt32(toUnixTimestamp(ingested_at)), ${AHEAD_SECONDS_SQL}
  FROM ${USAGE_EVENTS_TABLE}
  WHERE ${AHEAD} AND ${IN_SLICE}
  FORMAT RowBinary`;
const AHEAD_WORDS = WORDS_PER_STORED_ID + 1;

/** What was found besides the ids. */
export interface Rebuilt {
  /** Of ingestion, in microseconds; 0 when nothing is stored. */
  readonly lastTick: number;
  /** First hash words of the ids that are stored more than once: retries not merged yet, or conflicts. */
  readonly suspects: ReadonlySet<number>;
}

/** Loads all stored ids of the window, and those of events dated ahead that could still be sent again. */
export async function rebuildIndex(
  clickhouse: ClickHouse,
  index: DeduplicationIndex,
  now: Instant,
  windowDays: number,
): Promise<Rebuilt> {
  const nowSeconds = Math.floor(now / 1000);
  const from = nowSeconds * 1000 - windowDays * DAY_MS;
  // How far ahead is counted in units, and the index leaves out what is too much.
  const datedFrom = from - AHEAD_UNIT_SECONDS * 1000;
  const params = {
    accepted_from: from,
    dated_from: datedFrom,
    ahead_from: datedFrom - FUTURE_HOURS_MAX * HOUR_MS,
  };
  const [summary] = await clickhouse.query({
    sql: SUMMARY_SQL,
    params,
    settings: { max_execution_time: SLICE_SECONDS_MAX },
    schema: SUMMARY_ROW,
  });
  assert(summary !== undefined, 'an aggregate without groups returns one row');
  index.makeRoom(summary.events, nowSeconds);
  const suspects = new Set<number>();
  await eachSlice(clickhouse, { sql: SLICE_SQL, params, rows: summary.events }, async (bytes) => {
    const ids = wordsOf(bytes, WORDS_PER_STORED_ID);
    await index.load(ids, nowSeconds, (firstWord) => suspects.add(firstWord));
  });
  await eachSlice(clickhouse, { sql: AHEAD_SLICE_SQL, params, rows: summary.ahead }, async (bytes) => {
    const ids = wordsOf(bytes, AHEAD_WORDS);
    for (let at = 0; at < ids.length; at += AHEAD_WORDS) {
      const acceptedSeconds = ids[at + WORDS_PER_STORED_ID - 1] ?? 0;
      const stored = { acceptedSeconds, aheadSeconds: ids[at + WORDS_PER_STORED_ID] ?? 0 };
      index.add(ids, at, stored, nowSeconds);
    }
  });
  return { lastTick: summary.last_tick, suspects };
}

/** Reads the rows of a statement in slices, the next while this thread takes in the one before. */
async function eachSlice(
  clickhouse: ClickHouse,
  { sql, params, rows }: { readonly sql: string; readonly params: QueryParams; readonly rows: number },
  take: (bytes: Buffer) => Promise<void>,
): Promise<void> {
  const slices = Math.min(SHARDS, Math.ceil(rows / ROWS_PER_SLICE));
  const read = (slice: number): Promise<Buffer> | undefined =>
    slice < slices
      ? clickhouse.queryBytes({
          sql,
          params: { ...params, slices, slice },
          settings: { max_execution_time: SLICE_SECONDS_MAX },
        })
      : undefined;
  let bytes: Buffer | undefined = await read(0);
  for (let slice = 1; bytes !== undefined; slice += 1) {
    // Together, so that a read that fails meanwhile is noticed here.
    const [next] = await Promise.all([read(slice), take(bytes)]);
    bytes = next;
  }
}
