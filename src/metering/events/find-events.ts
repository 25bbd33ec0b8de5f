/**
 * Finds stored events by transaction id.
 *
 * The table is sorted by customer, so a search by id alone would read a column of all events. The projection
 * `by_id` of the table holds the first word of every id's hash in order, with the row it belongs to: each part is
 * searched by binary search, and only the few granules with the rows are read.
 */
import { z } from 'zod';
import type { Instant } from '../../core/time.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { HASH_WORDS, hashTransactionId } from '../ingest/transaction-hash.ts';
import type { StoredEvent } from './stored-event.ts';

/** Makes ClickHouse search the projection whatever the size of the table and the number of ids. */
const BY_ID_SETTINGS = {
  min_table_rows_to_use_projection_index: 0,
  max_projection_rows_to_use_projection_index: 1_000_000_000,
};

// PREWHERE, because ClickHouse would otherwise begin with the times of all rows in parts without the projection. `has`,
// because it would look for the ids of an IN in the primary key, which begins with the customer, granule by granule.
//
// Copies of one event, which a retry on two processes can leave behind, are one row: the one that FINAL
// would keep.
const EVENTS_SQL = `
SELECT
  transaction_id, customer_ref, event_type,
  toString(toUnixTimestamp64Milli(timestamp)) AS timestamp_ms,
  mapKeys(properties) AS names, mapValues(properties) AS texts,
  toString(toUnixTimestamp64Micro(ingested_at)) AS tick
FROM usage_events
PREWHERE id_hash_a IN {hashes:Array(UInt32)}
WHERE has({ids:Array(String)}, transaction_id)
  AND ingested_at >= fromUnixTimestamp64Milli({received_from:Int64}, 'UTC')
ORDER BY ingested_at, version DESC
LIMIT 1 BY transaction_id, customer_ref, event_type, timestamp`;

const REPEATS_SQL = `
SELECT
  transaction_id, customer_ref, event_type,
  toString(toUnixTimestamp64Milli(timestamp)) AS timestamp_ms,
  properties,
  toString(toUnixTimestamp64Milli(received_at)) AS received_ms,
  sequence
FROM event_repeats
WHERE transaction_id IN {ids:Array(String)}
  AND received_at >= fromUnixTimestamp64Milli({received_from:Int64}, 'UTC')
ORDER BY received_at, sequence
LIMIT {limit:UInt32} BY transaction_id`;

const MICROSECONDS_PER_MS = 1_000;

const milliseconds = z.string().transform(Number);

const eventRow = z
  .object({
    transaction_id: z.string(),
    customer_ref: z.string(),
    event_type: z.string(),
    timestamp_ms: milliseconds,
    names: z.array(z.string()),
    texts: z.array(z.string()),
    tick: z.string(),
  })
  .transform(
    (row): StoredEvent => ({
      transactionId: row.transaction_id,
      customerRef: row.customer_ref,
      eventType: row.event_type,
      timestamp: row.timestamp_ms,
      properties: new Map(row.names.map((name, index) => [name, row.texts[index] ?? ''])),
      receivedAt: Math.floor(Number(row.tick) / MICROSECONDS_PER_MS),
      tick: row.tick,
    }),
  );

/** Entries, because a schema for an object would drop a name such as `__proto__`. */
const propertyEntries = z.array(z.tuple([z.string(), z.string()]));

const repeatRow = z
  .object({
    transaction_id: z.string(),
    customer_ref: z.string(),
    event_type: z.string(),
    timestamp_ms: milliseconds,
    properties: z.string(),
    received_ms: milliseconds,
    sequence: z.number(),
  })
  .transform(
    (row): StoredEvent => ({
      transactionId: row.transaction_id,
      customerRef: row.customer_ref,
      eventType: row.event_type,
      timestamp: row.timestamp_ms,
      properties: new Map(propertyEntries.parse(Object.entries(JSON.parse(row.properties)))),
      receivedAt: row.received_ms,
      tick: `${row.received_ms}-${row.sequence}`,
    }),
  );

/** The accepted events with these ids that came at `receivedFrom` or later, by time of acceptance. */
export async function findEvents(
  clickhouse: ClickHouse,
  ids: readonly string[],
  receivedFrom: Instant,
): Promise<StoredEvent[]> {
  return await clickhouse.query({
    sql: EVENTS_SQL,
    params: { ids, hashes: ids.map(firstHashWord), received_from: receivedFrom },
    schema: eventRow,
    settings: BY_ID_SETTINGS,
  });
}

/** The first repeats of each of these ids that came at `receivedFrom` or later, in the order in which they came. */
export async function findRepeats(
  clickhouse: ClickHouse,
  ids: readonly string[],
  receivedFrom: Instant,
  limitPerId: number,
): Promise<StoredEvent[]> {
  return await clickhouse.query({
    sql: REPEATS_SQL,
    params: { ids, received_from: receivedFrom, limit: limitPerId },
    schema: repeatRow,
  });
}

function firstHashWord(id: string): number {
  const words = new Uint32Array(HASH_WORDS);
  hashTransactionId(id, words);
  return words[0] ?? 0;
}
