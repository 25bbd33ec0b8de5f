/**
 * Lookups of ids in the files of runs, of many requests together: while one group is looked up the next one collects.
 * ClickHouse is asked where a file cannot tell. A lookup that fails, or is late, refuses its requests, of which nothing
 * is stored.
 */
import { Refusal } from '../../../core/errors.ts';
import type { ClickHouse } from '../../client/clickhouse.ts';
import type { Acceptance } from '../deduplication-slots.ts';
import { HASH_WORDS } from '../transaction-hash.ts';
import { findInRuns } from './find-in-runs.ts';
import type { Runs } from './runs.ts';
import { storedAcceptances } from './stored-acceptances.ts';

const IDS_PER_GROUP = 4_096;
/** Hashes of 12 bytes each, and the requests that they came with. */
const IDS_WAITING_MAX = 100_000;
const WAIT_MS_MAX = 10_000;

interface LookupFigures {
  /** Ids that were looked up and had been accepted at some time, and those that had not. */
  readonly known: number;
  readonly new: number;
}

export interface Lookups {
  /** When the first `count` hashes were accepted. Refuses as `unavailable`, or `overloaded` where too many wait. */
  find(words: Uint32Array, count: number): Promise<readonly (readonly Acceptance[])[]>;
  figures(): LookupFigures;
  /** Waits for the lookups under way. */
  close(): Promise<void>;
}

export interface LookupsOptions {
  readonly runs: Pick<Runs, 'all'>;
  readonly clickhouse: ClickHouse;
  /** Called for a page that could not be read, before ClickHouse is asked. */
  readonly onUnreadable: (file: string, problem: string | null) => void;
  /** Called after each lookup of a request with the seconds that it took. */
  readonly onAnswer: (seconds: number) => void;
}

interface Waiting {
  readonly words: Uint32Array;
  readonly count: number;
  resolve(found: readonly (readonly Acceptance[])[]): void;
  reject(reason: unknown): void;
}

export function createLookups(options: LookupsOptions): Lookups {
  return new GroupedLookups(options);
}

class GroupedLookups implements Lookups {
  readonly #options: LookupsOptions;
  #waiting: Waiting[] = [];
  #waitingIds = 0;
  #running: Promise<void> | null = null;
  #known = 0;
  #new = 0;

  constructor(options: LookupsOptions) {
    this.#options = options;
  }

  async find(words: Uint32Array, count: number): Promise<readonly (readonly Acceptance[])[]> {
    if (this.#waitingIds + count > IDS_WAITING_MAX)
      throw new Refusal('overloaded', 'too many known events are being looked up, try again in a moment');
    const started = performance.now();
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        timer = setTimeout(() => reject(unavailable()), WAIT_MS_MAX);
        this.#waiting.push({ words, count, resolve, reject });
        this.#waitingIds += count;
        this.#running ??= this.#run();
      });
    } finally {
      clearTimeout(timer);
      this.#options.onAnswer((performance.now() - started) / 1000);
    }
  }

  figures(): LookupFigures {
    return { known: this.#known, new: this.#new };
  }

  async close(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // Requests that are being read at this moment come along.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) await this.#answer(this.#takeGroup());
    this.#running = null;
  }

  #takeGroup(): Waiting[] {
    let ids = 0;
    let requests = 0;
    for (const { count } of this.#waiting) {
      if (requests > 0 && ids + count > IDS_PER_GROUP) break;
      ids += count;
      requests += 1;
    }
    this.#waitingIds -= ids;
    return this.#waiting.splice(0, requests);
  }

  async #answer(group: readonly Waiting[]): Promise<void> {
    const count = group.reduce((sum, each) => sum + each.count, 0);
    const words = new Uint32Array(count * HASH_WORDS);
    let at = 0;
    for (const each of group) {
      words.set(each.words.subarray(0, each.count * HASH_WORDS), at * HASH_WORDS);
      at += each.count;
    }
    try {
      const found = await this.#find(words, count);
      let from = 0;
      for (const each of group) {
        each.resolve(found.slice(from, from + each.count));
        from += each.count;
      }
      const known = found.reduce((sum, acceptances) => sum + (acceptances.length > 0 ? 1 : 0), 0);
      this.#known += known;
      this.#new += count - known;
    } catch {
      for (const each of group) each.reject(unavailable());
    }
  }

  async #find(words: Uint32Array, count: number): Promise<readonly (readonly Acceptance[])[]> {
    const { runs, clickhouse, onUnreadable } = this.#options;
    const { acceptances, unread, problem } = await findInRuns(runs.all, words, count);
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

function unavailable(): Refusal {
  return new Refusal('unavailable', 'known events cannot be looked up at the moment, send the events again');
}
