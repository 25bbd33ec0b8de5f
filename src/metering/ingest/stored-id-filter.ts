/**
 * A filter of all stored ids, for a process that stores many more: it excludes most new ids, so that ClickHouse is
 * queried for few of them. Reading all hashes once takes as long as some lookups that read the column;
 * docs/how-to/backfill.md describes when it is worth it.
 */
import { z } from 'zod';
import type { ClickHouse, QueryParams } from '../client/clickhouse.ts';
import { wordBlocks } from '../client/native-words.ts';
import { USAGE_EVENTS_TABLE } from './encode-events.ts';
import { createIdFilter, type IdFilter } from './known-ids/id-filter.ts';
import { HASH_WORDS } from './transaction-hash.ts';

export interface StoredIdFilter {
  /** False: no event is stored with an id of this hash. */
  mayHave(words: Uint32Array, at: number): boolean;
  /** Adds an event that is about to be stored. */
  add(words: Uint32Array, at: number): void;
  /** Adds ids stored with a time of acceptance from this second on, by any process. */
  follow(fromSeconds: number): Promise<void>;
}

/** With 3.5 bytes per id the false positive rate is one in ten thousand, with 1.75 one in five hundred. */
const BYTES_PER_ID = 1.75;
const ROOM_WISHED = 2;
/** The maximum size of the initial filter: for at least 600 million ids. */
const BYTES_MAX = 1024 * 1024 * 1024;
/** Ids stored later are added to separate filters, each half as large as all before it. */
const NEXT_IDS_MIN = 1_000_000;
const QUERY_SECONDS_MAX = 3_600;

const COUNT_SQL = `SELECT count() AS events FROM ${USAGE_EVENTS_TABLE}`;
const HASHES_SQL = `SELECT id_hash_a AS id_a, id_hash_b AS id_b, id_hash_c AS id_c FROM ${USAGE_EVENTS_TABLE}`;

const RECENT_SQL = `${HASHES_SQL}
  WHERE ingested_at >= fromUnixTimestamp64Milli({from:Int64} * 1000, 'UTC')`;

/** Null if there are too many for the memory. */
export async function readStoredIdFilter(clickhouse: ClickHouse): Promise<StoredIdFilter | null> {
  const settings = { max_execution_time: QUERY_SECONDS_MAX };
  const [row] = await clickhouse.query({
    sql: COUNT_SQL,
    settings,
    schema: z.object({ events: z.coerce.number() }),
  });
  const events = Math.max(NEXT_IDS_MIN, row?.events ?? 0);
  if (events * BYTES_PER_ID > BYTES_MAX) return null;
  const room = Math.min(ROOM_WISHED, BYTES_MAX / (events * BYTES_PER_ID));
  const filter = createIdFilter(Math.floor(events * room));
  for await (const [a, b, c] of hashes(clickhouse, HASHES_SQL, {})) {
    for (let at = 0; at < a.length; at += 1) filter.add(a[at] ?? 0, b[at] ?? 0, c[at] ?? 0);
  }
  return new GrowingFilter(clickhouse, filter, events);
}

type HashColumns = readonly [a: Uint32Array, b: Uint32Array, c: Uint32Array];

async function* hashes(
  clickhouse: ClickHouse,
  sql: string,
  params: QueryParams,
): AsyncGenerator<HashColumns> {
  const settings = { max_execution_time: QUERY_SECONDS_MAX };
  const pieces = clickhouse.queryStream({ sql, params, settings, format: 'Native' });
  for await (const [a, b, c] of wordBlocks(pieces, HASH_WORDS)) {
    if (a !== undefined && b !== undefined && c !== undefined) yield [a, b, c];
  }
}

class GrowingFilter implements StoredIdFilter {
  readonly #filters: IdFilter[];
  #ids: number;
  /** How many more ids fit into the last filter. */
  #room = 0;

  readonly #clickhouse: ClickHouse;

  constructor(clickhouse: ClickHouse, first: IdFilter, ids: number) {
    this.#clickhouse = clickhouse;
    this.#filters = [first];
    this.#ids = ids;
  }

  mayHave(words: Uint32Array, at: number): boolean {
    const a = words[at] ?? 0;
    const b = words[at + 1] ?? 0;
    const c = words[at + 2] ?? 0;
    return this.#filters.some((filter) => filter.mayHave(a, b, c));
  }

  add(words: Uint32Array, at: number): void {
    if (this.#room === 0) {
      this.#room = Math.max(NEXT_IDS_MIN, Math.floor(this.#ids / 2));
      this.#filters.push(createIdFilter(this.#room * ROOM_WISHED));
    }
    this.#filters.at(-1)?.add(words[at] ?? 0, words[at + 1] ?? 0, words[at + 2] ?? 0);
    this.#room -= 1;
    this.#ids += 1;
  }

  async follow(fromSeconds: number): Promise<void> {
    for await (const [a, b, c] of hashes(this.#clickhouse, RECENT_SQL, { from: fromSeconds })) {
      for (let at = 0; at < a.length; at += 1) {
        const words = Uint32Array.of(a[at] ?? 0, b[at] ?? 0, c[at] ?? 0);
        if (!this.mayHave(words, 0)) this.add(words, 0);
      }
    }
  }
}
