/**
 * Finds which of many ids are stored already, at any time: the deduplication of a backfill, which loads events from
 * beyond the window of the index in memory.
 *
 * Compares the first word of the hash, which is 4 bytes an event, and then the ids themselves, so the answer is exact.
 * Few ids are looked up in the projection by hash; a lookup of more reads that column of all events, so it should ask
 * for thousands.
 */
import { z } from 'zod';
import type { ClickHouse } from '../client/clickhouse.ts';
import { USAGE_EVENTS_TABLE } from './encode-events.ts';

/** A billion events take a few seconds on a slow disk; a backfill can wait. */
const LOOKUP_SECONDS_MAX = 600;

/** The projection that finds single events costs more than the column for thousands of ids. */
const FEW_IDS = 200;
const BY_COLUMN = { optimize_use_projections: 0 };
const BY_PROJECTION = {
  min_table_rows_to_use_projection_index: 0,
  max_projection_rows_to_use_projection_index: 1_000_000_000,
};

const STORED_SQL = `
  SELECT transaction_id FROM ${USAGE_EVENTS_TABLE}
  WHERE id_hash_a IN {hashes:Array(UInt32)}`;

const idRow = z.object({ transaction_id: z.string() });

/** Ids of stored events whose hash begins with one of these words: all the requested ones, and possibly others. */
export async function findStoredIds(
  clickhouse: ClickHouse,
  firstHashWords: readonly number[],
): Promise<Set<string>> {
  if (firstHashWords.length === 0) return new Set();
  const rows = await clickhouse.query({
    sql: STORED_SQL,
    params: { hashes: firstHashWords },
    settings: {
      max_execution_time: LOOKUP_SECONDS_MAX,
      ...(firstHashWords.length > FEW_IDS ? BY_COLUMN : BY_PROJECTION),
    },
    schema: idRow,
  });
  return new Set(rows.map((row) => row.transaction_id));
}
