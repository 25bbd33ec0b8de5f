/**
 * Finds which of some encoded rows ClickHouse does not have: those whose microsecond of ingestion is not stored. Every
 * row has its own, across restarts, so the answer does not depend on ids or on the deduplication window.
 */
import type { ClickHouse } from '../client/clickhouse.ts';
import { eachRow, tickAt, USAGE_EVENTS_TABLE } from './encode-events.ts';
import { wordsOf } from './row-words.ts';

const TICKS_SQL = `
  SELECT toUInt32(toUnixTimestamp64Micro(ingested_at) % 4294967296),
    toUInt32(intDiv(toUnixTimestamp64Micro(ingested_at), 4294967296))
  FROM ${USAGE_EVENTS_TABLE}
  WHERE ingested_at >= fromUnixTimestamp64Micro({first:Int64}, 'UTC')
    AND ingested_at <= fromUnixTimestamp64Micro({last:Int64}, 'UTC')
  FORMAT RowBinary`;
const WORD = 0x1_0000_0000;
/** A slow disk must not prevent the rows from being written. */
const SECONDS_MAX = 600;

export async function missingRows(clickhouse: ClickHouse, rows: Buffer): Promise<Buffer> {
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  eachRow(rows, (start) => {
    first = Math.min(first, tickAt(rows, start));
    last = Math.max(last, tickAt(rows, start));
  });
  if (last === 0) return rows;
  const bytes = await clickhouse.queryBytes({
    sql: TICKS_SQL,
    params: { first, last },
    settings: { max_execution_time: SECONDS_MAX },
    lane: 'ingest',
  });
  const words = wordsOf(bytes, 2);
  const stored = new Set<number>();
  for (let at = 0; at < words.length; at += 2) stored.add((words[at] ?? 0) + (words[at + 1] ?? 0) * WORD);
  const missing: Buffer[] = [];
  eachRow(rows, (start, end) => {
    if (!stored.has(tickAt(rows, start))) missing.push(rows.subarray(start, end));
  });
  return Buffer.concat(missing);
}
