/**
 * Finds stored events by transaction id.
 *
 * The table is sorted by customer, so a search by id alone would read a column of all events. The projection `by_id` of
 * the table holds the first word of every id's hash in order, with its row: each part is searched by binary search, and
 * only the few granules with the rows are read.
 */
import { z } from 'zod';
import type { Instant } from '../../core/time.ts';
import type { ClickHouse, QueryParams } from '../client/clickhouse.ts';
import { CORRECTION_PARAMS } from '../corrections/parameter-names.ts';
import { firstHashWord, SEARCHED_BY_HASH } from '../ingest/transaction-hash-search.ts';
import type { StoredEvent } from './stored-event.ts';

const SETTINGS = {
  ...SEARCHED_BY_HASH,
  // Blocks of 1 MB, the default, contain few rows if events are large, although little more than hashes is read.
  preferred_block_size_bytes: 8 * 1024 * 1024,
};

// PREWHERE, because ClickHouse would otherwise begin with the times of all rows in parts without the projection. `has`,
// because an IN is looked up in the primary key, which begins with the customer, granule by granule.
//
// Copies of one event, which a retry on two processes can store, are returned as one row: the one that FINAL would
// keep.
const acceptedSql = (hashCondition: string) => `
SELECT
  0 AS kind, transaction_id, customer_ref, toString(event_type) AS type,
  toString(toUnixTimestamp64Milli(timestamp)) AS timestamp_ms,
  mapKeys(properties) AS names, mapValues(properties) AS texts, '' AS document,
  toString(toUnixTimestamp64Micro(ingested_at)) AS received_us, toUInt32(0) AS place,
  '' AS attempt, '' AS of_attempt
FROM usage_events
PREWHERE ${hashCondition}
WHERE has({ids:Array(String)}, transaction_id)
  AND ingested_at >= fromUnixTimestamp64Milli({received_from:Int64}, 'UTC')
ORDER BY ingested_at, version DESC
LIMIT 1 BY transaction_id, customer_ref, event_type, timestamp`;

/** Rows with the same columns. */
const REPEATS_SQL = `
SELECT
  1 AS kind, transaction_id, customer_ref, event_type AS type,
  toString(toUnixTimestamp64Milli(timestamp)) AS timestamp_ms,
  CAST([], 'Array(String)') AS names, CAST([], 'Array(String)') AS texts, properties AS document,
  toString(toUnixTimestamp64Milli(received_at) * 1000) AS received_us, sequence AS place,
  '' AS attempt, '' AS of_attempt
FROM event_repeats
WHERE transaction_id IN {ids:Array(String)}
  AND received_at >= fromUnixTimestamp64Milli({received_from:Int64}, 'UTC')
ORDER BY received_at, sequence
LIMIT {repeats_max:UInt32} BY transaction_id`;

/** The changes by standing corrections; rows with the same columns. */
const CORRECTED_SQL = `
SELECT
  if(is_given = 1, 2, 3) AS kind, transaction_id, customer_ref, toString(event_type) AS type,
  toString(toUnixTimestamp64Milli(timestamp)) AS timestamp_ms,
  mapKeys(properties) AS names, mapValues(properties) AS texts, '' AS document,
  toString(toUnixTimestamp64Micro(ingested_at)) AS received_us, toUInt32(0) AS place,
  toString(attempt) AS attempt, toString(of_attempt) AS of_attempt
FROM corrected_events
WHERE transaction_id IN {ids:Array(String)} AND attempt IN {standing_corrections:Array(String)}`;

/** Without corrections; their value is put in its place. */
const NO_CORRECTIONS = { [CORRECTION_PARAMS.standing]: [] };

const MICROSECONDS_PER_MS = 1_000;

const foundRow = z.object({
  /** 0: accepted, 1: a repeat, 2: given by a correction, 3: taken away by one. */
  kind: z.number(),
  transaction_id: z.string(),
  customer_ref: z.string(),
  type: z.string(),
  timestamp_ms: z.string().transform(Number),
  names: z.array(z.string()),
  texts: z.array(z.string()),
  document: z.string(),
  received_us: z.string(),
  /** The order among repeats of one millisecond. */
  place: z.number(),
  attempt: z.string(),
  of_attempt: z.string(),
});
type FoundRow = z.infer<typeof foundRow>;

/** Entries, because a schema for an object would drop a name such as `__proto__`. */
const propertyEntries = z.array(z.tuple([z.string(), z.string()]));

/** A change of an event by a standing correction. */
export interface CorrectedVersion {
  /** The version that it gives, or that it takes away. */
  readonly event: StoredEvent;
  readonly isGiven: boolean;
  /** The application of the set. */
  readonly attempt: string;
  /** The application that gave a version which is taken away; empty: it is the event as it was sent. */
  readonly ofAttempt: string;
}

export interface FoundEvents {
  readonly accepted: readonly StoredEvent[];
  readonly corrected: readonly CorrectedVersion[];
  readonly repeats: readonly StoredEvent[];
}

/**
 * The accepted events with these ids received at `receivedFrom` or later, and the first `repeatsMax` repeats of each id
 * since then, both in the order of receipt, with what standing corrections have changed of these ids. One statement
 * over the three tables.
 */
export async function findEvents(
  clickhouse: ClickHouse,
  ids: readonly string[],
  receivedFrom: Instant,
  repeatsMax: number,
): Promise<FoundEvents> {
  const search = acceptedSearch(ids);
  const rows = await clickhouse.query({
    sql: `${search.sql}\nUNION ALL${REPEATS_SQL}\nUNION ALL${CORRECTED_SQL}`,
    params: {
      ...{ ...search.params, ...NO_CORRECTIONS },
      ...{ received_from: receivedFrom, repeats_max: repeatsMax },
    },
    schema: foundRow,
    settings: SETTINGS,
  });
  // A UNION does not preserve the order of either side.
  const inOrder = rows.sort((a, b) => Number(a.received_us) - Number(b.received_us) || a.place - b.place);
  return {
    accepted: inOrder.filter(({ kind }) => kind === 0).map(acceptedEvent),
    repeats: inOrder.filter(({ kind }) => kind === 1).map(repeatedEvent),
    corrected: inOrder.filter(({ kind }) => kind > 1).map(correctedVersion),
  };
}

function correctedVersion(row: FoundRow): CorrectedVersion {
  const event = acceptedEvent(row);
  return {
    event: { ...event, tick: `${event.tick}-${row.attempt}` },
    isGiven: row.kind === 2,
    attempt: row.attempt,
    ofAttempt: row.of_attempt,
  };
}

/** All stored events with these ids, however old, and what standing corrections have changed of them. */
export async function findVersions(
  clickhouse: ClickHouse,
  ids: readonly string[],
): Promise<Pick<FoundEvents, 'accepted' | 'corrected'>> {
  const search = acceptedSearch(ids);
  const rows = await clickhouse.query({
    sql: `${search.sql}\nUNION ALL${CORRECTED_SQL}`,
    params: { ...search.params, ...NO_CORRECTIONS, received_from: 0 },
    schema: foundRow,
    settings: SETTINGS,
  });
  return {
    accepted: rows.filter(({ kind }) => kind === 0).map(acceptedEvent),
    corrected: rows.filter(({ kind }) => kind > 1).map(correctedVersion),
  };
}

/** Which of these ids have an accepted event received at `receivedFrom` or later. */
export async function findAcceptedIds(
  clickhouse: ClickHouse,
  ids: readonly string[],
  receivedFrom: Instant,
): Promise<Set<string>> {
  const search = acceptedSearch(ids);
  const rows = await clickhouse.query({
    sql: `SELECT DISTINCT transaction_id FROM (${search.sql}\n)`,
    params: { ...search.params, received_from: receivedFrom },
    schema: foundRow.pick({ transaction_id: true }),
    settings: SETTINGS,
  });
  return new Set(rows.map(({ transaction_id }) => transaction_id));
}

/** A single hash is compared: looking it up in a set takes ClickHouse several times as long for each row. */
function acceptedSearch(ids: readonly string[]): { readonly sql: string; readonly params: QueryParams } {
  const hashes = ids.map(firstHashWord);
  return hashes.length === 1
    ? { sql: acceptedSql('id_hash_a = {hash:UInt32}'), params: { ids, hash: hashes[0] } }
    : { sql: acceptedSql('id_hash_a IN {hashes:Array(UInt32)}'), params: { ids, hashes } };
}

function acceptedEvent(row: FoundRow): StoredEvent {
  const properties = new Map(row.names.map((name, index) => [name, row.texts[index] ?? '']));
  return { ...storedEvent(row), properties, tick: row.received_us };
}

function repeatedEvent(row: FoundRow): StoredEvent {
  const event = storedEvent(row);
  const properties = new Map(propertyEntries.parse(Object.entries(JSON.parse(row.document))));
  return { ...event, properties, tick: `${event.receivedAt}-${row.place}` };
}

function storedEvent(row: FoundRow): Omit<StoredEvent, 'properties' | 'tick'> {
  return {
    transactionId: row.transaction_id,
    customerRef: row.customer_ref,
    eventType: row.type,
    timestamp: row.timestamp_ms,
    receivedAt: Math.floor(Number(row.received_us) / MICROSECONDS_PER_MS),
    ingestedAt: row.received_us,
  };
}
