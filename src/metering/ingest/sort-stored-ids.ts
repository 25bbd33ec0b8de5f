/** Brings stored ids into the order in which the deduplication index is filled fastest. */
import { assert } from '../../core/errors.ts';
import { SHARD_MASK, SHARDS } from './deduplication-slots.ts';
import { HASH_WORDS } from './transaction-hash.ts';
import { uncountedWords } from './uncounted-words.ts';

/** Stored ids column by column: the three words of their hashes, and their seconds of acceptance. */
export type StoredIds = readonly Uint32Array[];

/** Of a sorted id: the hash and the second of acceptance. */
export const WORDS_PER_STORED_ID = HASH_WORDS + 1;

/**
 * The ids one after the other in the order of their shards, and where those of each shard end: a shard stays in the
 * cache of the processor while it is filled, where ids in any other order miss it every time. Sorted by counting.
 */
export function sortedByShard(ids: readonly StoredIds[]): { sorted: Uint32Array; ends: Uint32Array } {
  const ends = new Uint32Array(SHARDS + 1);
  let count = 0;
  for (const [first = NO_WORDS] of ids) {
    countShards(first, ends);
    count += first.length;
  }
  for (let shard = 1; shard <= SHARDS; shard += 1) ends[shard] = (ends[shard] ?? 0) + (ends[shard - 1] ?? 0);
  const sorted = uncountedWords(count * WORDS_PER_STORED_ID);
  for (const [a = NO_WORDS, b = NO_WORDS, c = NO_WORDS, seconds = NO_WORDS] of ids) {
    const isWhole = [b, c, seconds].every(({ length }) => length === a.length);
    assert(isWhole, 'stored ids are whole');
    place({ a, b, c, seconds }, ends, sorted);
  }
  return { sorted, ends };
}

const NO_WORDS = new Uint32Array(0);

/** Adds the words of each shard to the place after it, so that the sums before a place are where its shard begins. */
function countShards(first: Uint32Array, ends: Uint32Array): void {
  for (let i = 0; i < first.length; i += 1) {
    const next = ((first[i] ?? 0) & SHARD_MASK) + 1;
    ends[next] = (ends[next] ?? 0) + WORDS_PER_STORED_ID;
  }
}

interface Columns {
  readonly a: Uint32Array;
  readonly b: Uint32Array;
  readonly c: Uint32Array;
  readonly seconds: Uint32Array;
}

/** Puts each id behind those of its shard that are there. */
function place({ a, b, c, seconds }: Columns, ends: Uint32Array, sorted: Uint32Array): void {
  for (let i = 0; i < a.length; i += 1) {
    const first = a[i] ?? 0;
    const shard = first & SHARD_MASK;
    const at = ends[shard] ?? 0;
    sorted[at] = first;
    sorted[at + 1] = b[i] ?? 0;
    sorted[at + 2] = c[i] ?? 0;
    sorted[at + 3] = seconds[i] ?? 0;
    ends[shard] = at + WORDS_PER_STORED_ID;
  }
}
