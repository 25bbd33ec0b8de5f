/**
 * Looks up ids in the files of runs, for many requests together: while one group is looked up the next one collects.
 * ClickHouse is queried if a file cannot be read. A lookup that fails, or times out, refuses its requests, of which
 * nothing is stored.
 */

import { z } from 'zod';
import { Refusal } from '../../../core/errors.ts';
import { createBatcher } from '../../../runtime/batcher.ts';
import { within } from '../../../runtime/time-limit.ts';
import type { ClickHouse } from '../../client/clickhouse.ts';
import { type Acceptance, AHEAD_SECONDS_MAX, unitsOf } from '../deduplication-slots.ts';
import { USAGE_EVENTS_TABLE } from '../encode-events.ts';
import { AHEAD_SECONDS_SQL } from '../rebuild-index.ts';
import { HASH_WORDS } from '../transaction-hash.ts';
import { findInRuns } from './find-in-runs.ts';
import type { PageReader } from './read-on-thread.ts';
import type { Runs } from './runs.ts';

const IDS_PER_GROUP = 4_096;
/** Hashes of 12 bytes each, and their requests. */
const IDS_WAITING_MAX = 100_000;
const WAIT_MS_MAX = 10_000;
const UNAVAILABLE = 'known events cannot be looked up at the moment, send the events again';

interface LookupFigures {
  /** Counts of looked up ids that had been accepted before, and of others. */
  readonly known: number;
  readonly new: number;
}

export interface Lookups {
  /** The acceptances of the first `count` hashes. Refuses as `unavailable`, or `overloaded` if too many wait. */
  find(words: Uint32Array, count: number): Promise<Found>;
  figures(): LookupFigures;
  /** Waits for running lookups. */
  close(): Promise<void>;
}

export interface LookupsOptions {
  readonly runs: Pick<Runs, 'all'>;
  readonly pages: Pick<PageReader, 'read'>;
  readonly clickhouse: ClickHouse;
  /** Called for an unreadable page, before ClickHouse is queried. */
  readonly onUnreadable: (file: string, problem: string | null) => void;
  /** Called after each lookup of a request with its duration in seconds. */
  readonly onAnswer: (seconds: number) => void;
}

interface Asked {
  readonly words: Uint32Array;
  readonly count: number;
}

type Found = readonly (readonly Acceptance[])[];

export function createLookups(options: LookupsOptions): Lookups {
  return new GroupedLookups(options);
}

class GroupedLookups implements Lookups {
  readonly #options: LookupsOptions;
  readonly #batcher = createBatcher<Asked, Found>({
    name: 'known ids',
    sizeMax: IDS_PER_GROUP,
    sizeOf: ({ count }) => count,
    work: (group) => this.#answer(group),
  });
  #known = 0;
  #new = 0;

  constructor(options: LookupsOptions) {
    this.#options = options;
  }

  async find(words: Uint32Array, count: number): Promise<Found> {
    if (this.#batcher.figures().waiting + count > IDS_WAITING_MAX)
      throw new Refusal('overloaded', 'too many known events are being looked up, try again in a moment');
    const started = performance.now();
    try {
      return await within(WAIT_MS_MAX, this.#batcher.ask({ words, count }), UNAVAILABLE);
    } finally {
      this.#options.onAnswer((performance.now() - started) / 1000);
    }
  }

  figures(): LookupFigures {
    return { known: this.#known, new: this.#new };
  }

  close(): Promise<void> {
    return this.#batcher.close();
  }

  async #answer(group: readonly Asked[]): Promise<readonly Found[]> {
    const count = group.reduce((sum, each) => sum + each.count, 0);
    const words = new Uint32Array(count * HASH_WORDS);
    let at = 0;
    for (const each of group) {
      words.set(each.words.subarray(0, each.count * HASH_WORDS), at * HASH_WORDS);
      at += each.count;
    }
    const found = await this.#find(words, count).catch(() => {
      throw new Refusal('unavailable', UNAVAILABLE);
    });
    const known = found.reduce((sum, acceptances) => sum + (acceptances.length > 0 ? 1 : 0), 0);
    this.#known += known;
    this.#new += count - known;
    let from = 0;
    return group.map((each) => {
      from += each.count;
      return found.slice(from - each.count, from);
    });
  }

  async #find(words: Uint32Array, count: number): Promise<Found> {
    const { runs, pages, clickhouse, onUnreadable } = this.#options;
    const { acceptances, unread, problem } = await findInRuns(runs.all, words, count, pages);
    if (unread.size === 0) return acceptances;
    for (const run of unread.keys()) onUnreadable(run.name, problem);
    const places = [...new Set([...unread.values()].flat())];
    const asked = new Uint32Array(places.length * HASH_WORDS);
    for (const [i, place] of places.entries())
      asked.set(words.subarray(place * HASH_WORDS, (place + 1) * HASH_WORDS), i * HASH_WORDS);
    const stored = await storedAcceptances(clickhouse, asked, places.length);
    const all = [...acceptances];
    for (const [i, place] of places.entries())
      all[place] = [...(acceptances[place] ?? []), ...(stored[i] ?? [])];
    return all;
  }
}

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

/**
 * The acceptances of each of `count` hashes from the stored events: the fallback if the file of a run cannot be read.
 * Costs ClickHouse up to a millisecond for each id; rejects if it does not respond.
 */
async function storedAcceptances(
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
