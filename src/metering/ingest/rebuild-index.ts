/**
 * Fills the deduplication index from storage: the hashes and times of acceptance of every event of the window. They are
 * read column by column in one query, and loaded block by block.
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
import { HASH_WORDS } from './transaction-hash.ts';

/** A start on a slow disk may take minutes; it must not fail because of a limit meant for requests. */
const QUERY_SECONDS_MAX = 600;

const SUMMARY_ROW = z.object({
  events: z.coerce.number(),
  ahead: z.coerce.number(),
  last_tick: z.coerce.number(),
});

/** The seconds by which a row is dated after its acceptance, as UInt32. */
export const AHEAD_SECONDS_SQL =
  'toUInt32(greatest(toUnixTimestamp(timestamp) - toUnixTimestamp(ingested_at), 0))';

// By acceptance only: a backfill stores events of any age, and their ids are kept like all others. The table has the
// bounds of `ingested_at` for every few granules, so older ones are not read.
const WITHIN_WINDOW = `ingested_at >= fromUnixTimestamp64Milli({accepted_from:Int64}, 'UTC')
    AND ingested_at < fromUnixTimestamp64Milli({accepted_to:Int64}, 'UTC')`;

// Events that were dated ahead, which are few, are known until they are too old to be sent again.
const AHEAD = `ingested_at >= fromUnixTimestamp64Milli({ahead_from:Int64}, 'UTC')
    AND ingested_at < fromUnixTimestamp64Milli({accepted_to:Int64}, 'UTC')
    AND timestamp >= fromUnixTimestamp64Milli({dated_from:Int64}, 'UTC') AND timestamp > ingested_at`;

const SUMMARY_SQL = `
  SELECT countIf(${WITHIN_WINDOW}) AS events, countIf(${AHEAD}) AS ahead,
    max(toUnixTimestamp64Micro(ingested_at)) AS last_tick
  FROM ${USAGE_EVENTS_TABLE}
  WHERE ingested_at >= fromUnixTimestamp64Milli({ahead_from:Int64}, 'UTC')
    AND ingested_at < fromUnixTimestamp64Milli({accepted_to:Int64}, 'UTC')`;

// Names of four letters align the values of blocks of usual size to whole words, so that they are read without a copy.
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

/** The results besides the ids. */
export interface Rebuilt {
  /** The last ingestion, in microseconds; 0 if nothing is stored. */
  readonly lastTick: number;
  /** First hash words of the ids that are stored more than once: retries not merged yet, or conflicts. */
  readonly suspects: ReadonlySet<number>;
}

/** Seconds of acceptance, from the first one up to but excluding the second. */
export interface Seconds {
  readonly from: number;
  readonly to: number;
}

/** Later than anything is accepted: ClickHouse keeps no later time. */
const LAST_SECOND = Date.UTC(2262, 0, 1) / 1000;
export const ALL_SECONDS: Seconds = { from: 0, to: LAST_SECOND };

/**
 * Loads all stored ids of the window that were accepted `within` these seconds, and those of events dated ahead that
 * could still be sent again.
 */
export async function rebuildIndex(
  clickhouse: ClickHouse,
  index: DeduplicationIndex,
  now: Instant,
  windowDays: number,
  within: Seconds = ALL_SECONDS,
): Promise<Rebuilt> {
  const nowSeconds = Math.floor(now / 1000);
  const from = nowSeconds * 1000 - windowDays * DAY_MS;
  // The time ahead is counted in units, and the index drops any excess.
  const datedFrom = from - AHEAD_UNIT_SECONDS * 1000;
  const params = {
    accepted_from: Math.max(from, within.from * 1000),
    accepted_to: within.to * 1000,
    dated_from: datedFrom,
    ahead_from: Math.max(datedFrom - FUTURE_HOURS_MAX * HOUR_MS, within.from * 1000),
  };
  const [summary] = await clickhouse.query({
    sql: SUMMARY_SQL,
    params,
    settings: { max_execution_time: QUERY_SECONDS_MAX },
    schema: SUMMARY_ROW,
  });
  assert(summary !== undefined, 'an aggregate without groups returns one row');
  const suspects = new Set<number>();
  const loading = index.load(summary.events, nowSeconds, (firstWord) => suspects.add(firstWord));
  for await (const block of blocksOf(clickhouse, { ...IDS, params })) loading.add(block);
  loading.end();
  if (summary.ahead > 0) {
    const ahead = blocksOf(clickhouse, { ...AHEAD_IDS, params });
    for await (const block of ahead) addAhead(index, block, nowSeconds);
  }
  return { lastTick: summary.last_tick, suspects };
}

/**
 * First hash words of the ids that were accepted within these seconds and are in the index as well: rows that were not
 * loaded into it.
 */
export async function alsoAcceptedWithin(
  clickhouse: ClickHouse,
  index: DeduplicationIndex,
  now: Instant,
  within: Seconds,
): Promise<ReadonlySet<number>> {
  const nowSeconds = Math.floor(now / 1000);
  const params = { accepted_from: within.from * 1000, accepted_to: within.to * 1000 };
  const found = new Set<number>();
  const hash = new Uint32Array(HASH_WORDS);
  for await (const [a = NO_WORDS, b = NO_WORDS, c = NO_WORDS] of blocksOf(clickhouse, { ...IDS, params })) {
    for (let i = 0; i < a.length; i += 1) {
      hash[0] = a[i] ?? 0;
      hash[1] = b[i] ?? 0;
      hash[2] = c[i] ?? 0;
      // Independent of the events' timestamps.
      if (index.isKnown(hash, 0, nowSeconds, Number.POSITIVE_INFINITY)) found.add(a[i] ?? 0);
    }
  }
  return found;
}

const NO_WORDS = new Uint32Array(0);

const COUNTS_SQL = `
  SELECT toUInt32(intDiv(toUnixTimestamp(ingested_at), {width:UInt32})) AS span, count() AS events
  FROM ${USAGE_EVENTS_TABLE}
  WHERE ingested_at >= fromUnixTimestamp64Milli({accepted_from:Int64}, 'UTC')
    AND ingested_at < fromUnixTimestamp64Milli({accepted_to:Int64}, 'UTC')
  GROUP BY span ORDER BY span`;

const countRow = z.object({ span: z.number(), events: z.coerce.number() });

/** The number of events accepted in each span of this many seconds, by its index: non-empty spans, in order. */
export async function countAccepted(
  clickhouse: ClickHouse,
  { from, to }: Seconds,
  width: number,
): Promise<{ span: number; events: number }[]> {
  return await clickhouse.query({
    sql: COUNTS_SQL,
    params: { width, accepted_from: from * 1000, accepted_to: to * 1000 },
    settings: { max_execution_time: QUERY_SECONDS_MAX },
    schema: countRow,
  });
}

function addAhead(index: DeduplicationIndex, block: WordColumns, nowSeconds: number): void {
  const [a, b, c, seconds, ahead] = block;
  for (let i = 0; i < (a?.length ?? 0); i += 1) {
    const hash = Uint32Array.of(a?.[i] ?? 0, b?.[i] ?? 0, c?.[i] ?? 0);
    index.add(hash, 0, { acceptedSeconds: seconds?.[i] ?? 0, aheadSeconds: ahead?.[i] ?? 0 }, nowSeconds);
  }
}

/** The rows of a statement. The engine produces the next blocks while this thread loads one. */
function blocksOf(
  clickhouse: ClickHouse,
  { sql, columns, params }: ColumnsSelect & { readonly params: QueryParams },
): AsyncIterable<WordColumns> {
  const settings = { max_execution_time: QUERY_SECONDS_MAX };
  return wordBlocks(clickhouse.queryStream({ sql, params, settings, format: 'Native' }), columns);
}
