/** Collects stored ids by the shards of the deduplication index, which is the fastest order for filling it. */
import { assert } from '../../core/errors.ts';
import { SHARD_MASK, SHARDS } from './deduplication-slots.ts';
import { HASH_WORDS } from './transaction-hash.ts';
import { uncountedWords } from './uncounted-words.ts';

/** Stored ids column by column: the three words of their hashes, and their seconds of acceptance. */
export type StoredIds = readonly Uint32Array[];

/** The words of a collected id: the hash and the second of acceptance. */
export const WORDS_PER_STORED_ID = HASH_WORDS + 1;

/**
 * 32 MB for all shards. With fewer ids, each shard is brought into the cache of the processor more often. An odd number
 * of cache lines, so that consecutive writes do not all compete for the same few lines of the cache.
 */
const IDS_PER_SHARD_MAX = 2_004;

/** Inserts the ids at `ids[from…to]`, which belong to one shard, into it. */
type FillShard = (ids: Uint32Array, from: number, to: number) => void;

export interface IdsByShard {
  add(block: StoredIds): void;
  /** Inserts the remaining ids. */
  end(): void;
}

/**
 * Calls `fill` with the ids of a shard when there are many, and at the end: a shard stays in the processor's cache
 * while it is filled, while ids in any other order miss it every time.
 */
export function collectByShard(count: number, fill: FillShard): IdsByShard {
  const room = Math.min(IDS_PER_SHARD_MAX, Math.ceil(count / SHARDS) + 1) * WORDS_PER_STORED_ID;
  const words = uncountedWords(SHARDS * room);
  const ends = Uint32Array.from({ length: SHARDS }, (_, shard) => shard * room);
  const empty = (shard: number) => {
    const from = shard * room;
    const to = ends[shard] ?? from;
    if (to > from) fill(words, from, to);
    ends[shard] = from;
  };
  const add = (a: Uint32Array, b: Uint32Array, c: Uint32Array, seconds: Uint32Array) => {
    for (let i = 0; i < a.length; i += 1) {
      const first = a[i] ?? 0;
      const shard = first & SHARD_MASK;
      if (ends[shard] === (shard + 1) * room) empty(shard);
      const at = ends[shard] ?? 0;
      words[at] = first;
      words[at + 1] = b[i] ?? 0;
      words[at + 2] = c[i] ?? 0;
      words[at + 3] = seconds[i] ?? 0;
      ends[shard] = at + WORDS_PER_STORED_ID;
    }
  };
  return {
    add([a = NO_WORDS, b = NO_WORDS, c = NO_WORDS, seconds = NO_WORDS]) {
      const isWhole = [b, c, seconds].every(({ length }) => length === a.length);
      assert(isWhole, 'stored ids are whole');
      add(a, b, c, seconds);
    },
    end() {
      for (let shard = 0; shard < SHARDS; shard += 1) empty(shard);
    },
  };
}

const NO_WORDS = new Uint32Array(0);
