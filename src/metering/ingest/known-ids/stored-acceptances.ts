/**
 * Acceptance times of ids from the stored events themselves: the fallback if the file of a run cannot be read. Costs
 * ClickHouse up to a millisecond for each id.
 */
import { z } from 'zod';
import type { ClickHouse } from '../../client/clickhouse.ts';
import { type Acceptance, AHEAD_SECONDS_MAX, unitsOf } from '../deduplication-slots.ts';
import { USAGE_EVENTS_TABLE } from '../encode-events.ts';
import { AHEAD_SECONDS_SQL } from '../rebuild-index.ts';
import { HASH_WORDS } from '../transaction-hash.ts';

/** `by_id` is efficient for few hashes; for many ClickHouse reads the column. */
const IDS_PER_QUERY = 1_000;
const SETTINGS = {
  max_execution_time: 10,
  min_table_rows_to_use_projection_index: 0,
  max_projection_rows_to_use_projection_index: 1_000_000_000,
};

const SQL = `
  SELECT id_hash_a AS a, id_hash_b AS b, id_hash_c AS c, toUInt32(toUnixTimestamp(ingested_at)) AS seconds,
    ${AHEAD_SECONDS_SQL} AS ahead
  FROM ${USAGE_EVENTS_TABLE}
  PREWHERE id_hash_a IN {hashes:Array(UInt32)}`;

const row = z.object({ a: z.number(), b: z.number(), c: z.number(), seconds: z.number(), ahead: z.number() });

/** The acceptances of each of `count` hashes; rejects if ClickHouse does not respond. */
export async function storedAcceptances(
  clickhouse: ClickHouse,
  words: Uint32Array,
  count: number,
): Promise<Acceptance[][]> {
  const byHash = new Map<string, Acceptance[]>();
  const found = Array.from({ length: count }, (_, place) => {
    const key = words.subarray(place * HASH_WORDS, (place + 1) * HASH_WORDS).join();
    const acceptances = byHash.get(key) ?? [];
    byHash.set(key, acceptances);
    return acceptances;
  });
  for (let from = 0; from < count; from += IDS_PER_QUERY) {
    const places = Array.from({ length: Math.min(IDS_PER_QUERY, count - from) }, (_, i) => from + i);
    const hashes = [...new Set(places.map((place) => words[place * HASH_WORDS] ?? 0))];
    const rows = await clickhouse.query({
      sql: SQL,
      params: { hashes },
      settings: SETTINGS,
      lane: 'ingest',
      schema: row,
    });
    for (const { a, b, c, seconds, ahead } of rows) {
      const aheadUnits = unitsOf(Math.min(ahead, AHEAD_SECONDS_MAX));
      byHash.get([a, b, c].join())?.push({ seconds, aheadUnits });
    }
  }
  return found;
}
