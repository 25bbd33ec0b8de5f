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
import { wordsOf } from './row-words.ts';

/** One slice is 32 MB of bytes, and a few hundred milliseconds of work. */
const ROWS_PER_SLICE = 2_000_000;

/** A start on a slow disk may take minutes; it must not fail because of a limit meant for requests. */
const SLICE_SECONDS_MAX = 600;

const SUMMARY_ROW = z.object({ events: z.coerce.number(), last_tick: z.coerce.number() });

// By acceptance alone: a backfill stores events of any age, and their ids are remembered like all others.
// The table has the bounds of `ingested_at` for every few granules, so that older ones are not read.
const WITHIN_WINDOW = 'ingested_at > fromUnixTimestamp64Milli({accepted_after:Int64})';

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

/** What was found besides the ids. */
export interface Rebuilt {
  /** Of ingestion, in microseconds; 0 when nothing is stored. */
  readonly lastTick: number;
  /** First hash words of the ids that are stored more than once: retries not merged yet, or conflicts. */
  readonly suspects: ReadonlySet<number>;
}

/** Loads all stored ids of the window. */
export async function rebuildIndex(
  clickhouse: ClickHouse,
  index: DeduplicationIndex,
  now: Instant,
  windowDays: number,
): Promise<Rebuilt> {
  const params = { accepted_after: now - windowDays * DAY_MS };
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
  const suspects = new Set<number>();
  // ClickHouse reads the next slice while this thread loads the one before.
  let next = read(0);
  for (let slice = 0; next !== undefined; slice += 1) {
    const bytes: Buffer = await next;
    next = read(slice + 1);
    const slots = wordsOf(bytes, WORDS_PER_SLOT);
    index.load(slots, nowSeconds, (at) => suspects.add(slots[at] ?? 0));
  }
  return { lastTick: summary.last_tick, suspects };
}
