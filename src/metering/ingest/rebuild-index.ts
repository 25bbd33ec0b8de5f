/**
 * Fills the deduplication index from what is stored: the hashes and times of acceptance of every event of the window.
 * They are read column by column in one query, in batches that bound the memory this takes.
 */
import { z } from 'zod';
import { assert } from '../../core/errors.ts';
import { DAY_MS, HOUR_MS, type Instant } from '../../core/time.ts';
import type { ClickHouse, QueryParams } from '../client/clickhouse.ts';
import { type WordColumns, wordBlocks } from '../client/native-words.ts';
import type { DeduplicationIndex } from './deduplication-index.ts';
import { AHEAD_UNIT_SECONDS } from './deduplication-slots.ts';
import { USAGE_EVENTS_TABLE } from './encode-events.ts';
import { FUTURE_HOURS_MAX } from './event-limits.ts';

/** The blocks of a batch take 64 MB, and as much again while they are sorted. With fewer, each fills the shards anew. */
const ROWS_PER_BATCH = 4_000_000;

/** A start on a slow disk may take minutes; it must not fail because of a limit meant for requests. */
const QUERY_SECONDS_MAX = 600;

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

const SUMMARY_SQL = `
  SELECT countIf(${WITHIN_WINDOW}) AS events, countIf(${AHEAD}) AS ahead,
    max(toUnixTimestamp64Micro(ingested_at)) AS last_tick
  FROM ${USAGE_EVENTS_TABLE}
  WHERE ingested_at >= fromUnixTimestamp64Milli({ahead_from:Int64}, 'UTC')`;

// Names of four letters put the values of blocks of usual size on whole words, where they are read without a copy.
const ID_COLUMNS = `id_hash_a AS id_a, id_hash_b AS id_b, id_hash_c AS id_c,
    toUInt32(toUnixTimestamp(ingested_at)) AS secs`;

// The columns of `StoredIds`.
const IDS: ColumnsSelect = {
  sql: `SELECT ${ID_COLUMNS} FROM ${USAGE_EVENTS_TABLE} WHERE ${WITHIN_WINDOW}`,
  columns: 4,
};

const AHEAD_IDS: ColumnsSelect = {
  sql: `SELECT ${ID_COLUMNS}, ${AHEAD_SECONDS_SQL} FROM ${USAGE_EVENTS_TABLE} WHERE ${AHEAD}`,
  columns: 5,
};

/** A SELECT whose columns are all UInt32. */
interface ColumnsSelect {
  readonly sql: string;
  readonly columns: number;
}

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
    settings: { max_execution_time: QUERY_SECONDS_MAX },
    schema: SUMMARY_ROW,
  });
  assert(summary !== undefined, 'an aggregate without groups returns one row');
  index.makeRoom(summary.events, nowSeconds);
  const suspects = new Set<number>();
  await eachBatch(clickhouse, { ...IDS, params }, (ids) =>
    index.load(ids, nowSeconds, (firstWord) => suspects.add(firstWord)),
  );
  if (summary.ahead > 0) {
    await eachBatch(clickhouse, { ...AHEAD_IDS, params }, async (ids) => {
      for (const block of ids) addAhead(index, block, nowSeconds);
    });
  }
  return { lastTick: summary.last_tick, suspects };
}

function addAhead(index: DeduplicationIndex, block: WordColumns, nowSeconds: number): void {
  const [a, b, c, seconds, ahead] = block;
  for (let i = 0; i < (a?.length ?? 0); i += 1) {
    const hash = Uint32Array.of(a?.[i] ?? 0, b?.[i] ?? 0, c?.[i] ?? 0);
    index.add(hash, 0, { acceptedSeconds: seconds?.[i] ?? 0, aheadSeconds: ahead?.[i] ?? 0 }, nowSeconds);
  }
}

/** Reads the rows of a statement in batches of blocks, the next one while this thread takes in the one before. */
async function eachBatch(
  clickhouse: ClickHouse,
  { sql, columns, params }: ColumnsSelect & { readonly params: QueryParams },
  take: (blocks: readonly WordColumns[]) => Promise<void>,
): Promise<void> {
  const settings = { max_execution_time: QUERY_SECONDS_MAX };
  const pieces = clickhouse.queryStream({ sql, params, settings, format: 'Native' });
  const batches = batchesOf(wordBlocks(pieces, columns));
  try {
    let batch = await batches.next();
    while (batch.done !== true) {
      // Together, so that a read that fails meanwhile is noticed here.
      const [next] = await Promise.all([batches.next(), take(batch.value)]);
      batch = next;
    }
  } finally {
    await batches.return();
  }
}

async function* batchesOf(
  blocks: AsyncIterable<WordColumns>,
): AsyncGenerator<readonly WordColumns[], void, undefined> {
  let batch: WordColumns[] = [];
  let rows = 0;
  for await (const block of blocks) {
    batch.push(block);
    rows += block[0]?.length ?? 0;
    if (rows < ROWS_PER_BATCH) continue;
    yield batch;
    batch = [];
    rows = 0;
  }
  if (rows > 0) yield batch;
}
