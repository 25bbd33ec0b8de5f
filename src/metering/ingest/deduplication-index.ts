/**
 * The in-memory index of the ids accepted within the window: hash and time of acceptance.
 *
 * A slot is four 32-bit words: three of the hash and the second of acceptance. Open addressing with linear probing,
 * split into shards that grow one at a time, so that no request ever waits for a rehash of everything. An expired or
 * released slot counts as free but keeps its place until its shard is rebuilt, so probe chains never break.
 *
 * After the window an id can be used again, except by the accepted event itself: a second copy would be collapsed with
 * the first, because both have the same sorting key. Ingest accepts the timestamp of an event dated ahead for up to a
 * day longer than the window. So a slot also stores how far ahead its event was dated, in the bits of the hash that all
 * slots of a shard share. An event with the id whose timestamp is not later is a duplicate too.
 *
 * Independent of ids, events, storage and the clock.
 */
import { assert } from '../../core/errors.ts';
import {
  type Acceptance,
  AHEAD_SECONDS_MAX,
  AHEAD_UNIT_SECONDS,
  acceptedAt,
  countSlots,
  eachSlotBefore,
  emptyShard,
  fillShard,
  findLatest,
  findSlot,
  firstShard,
  lastExpired,
  mergeInto,
  moveKept,
  putSlot,
  releaseSlot,
  requireStorable,
  SHARD_MASK,
  SHARDS,
  type Shard,
  touchSlot,
  unitsOf,
} from './deduplication-slots.ts';
import { collectByShard, type IdsByShard, WORDS_PER_STORED_ID } from './ids-by-shard.ts';
import { HASH_WORDS } from './transaction-hash.ts';

/** Smallest shard, in slots; an empty index takes 0.6 MB. */
const SLOTS_MIN = 32;
/** Above this load factor a shard is rebuilt: a new id then probes 23 neighbouring slots, 9 on average. */
const LOAD_MAX = 0.85;
/** The load factor after a rebuild: 16 bytes ÷ 0.68 = 23.5 bytes per id at worst. */
const LOAD_AFTER_REBUILD = LOAD_MAX / 1.25;

interface StoredId {
  readonly acceptedSeconds: number;
  /** By how much its timestamp is later than the acceptance; 0 if it is not. */
  readonly aheadSeconds: number;
}

export interface DeduplicationIndex {
  /**
   * Prefetches the slots of the first `count` hashes in `words`; call it before looking them up. If the index is larger
   * than the processor's caches, their slots are fetched concurrently: one by one, each lookup waits for memory.
   * `wordsPerId`: the distance between hashes.
   */
  approach(words: Uint32Array, count: number, wordsPerId?: number): void;
  /**
   * True if the hash at `words[at…]` is not known, and records it as accepted now. False if it is known: it was
   * accepted within the window, or the event may be the accepted one, by its timestamp. Both times are whole seconds
   * since the epoch; the timestamp is at most the window back and a day ahead.
   */
  reserve(words: Uint32Array, at: number, nowSeconds: number, timestampSeconds: number): boolean;
  /** The negated result of `reserve`, without recording anything. */
  isKnown(words: Uint32Array, at: number, nowSeconds: number, timestampSeconds: number): boolean;
  /** Undoes a `reserve`, because the write failed. */
  release(words: Uint32Array, at: number): void;
  /**
   * Adds the stored id with the hash at `words[at…]`; the earliest time of acceptance counts. Returns the acceptance
   * time that the id already had, or null if it had none within the window.
   */
  add(words: Uint32Array, at: number, stored: StoredId, nowSeconds: number): number | null;
  /**
   * Loads stored ids block by block, as if none were dated ahead; for those that are, `add` has to be called as well.
   * The last ids are in the index after its `end`. Grows once for `count` ids, instead of step by step. Calls `onKnown`
   * with the first hash word of every id that was already there.
   */
  load(count: number, nowSeconds: number, onKnown?: (firstWord: number) => void): IdsByShard;
  /** Calls `visit` with each slot of a shard that holds an id accepted before this second. */
  eachBefore(shard: number, before: number, visit: (slots: Uint32Array, offset: number) => void): void;
  /**
   * Drops the ids of a shard that were accepted before this second, if their number is `count`: the number that was
   * saved elsewhere. Otherwise nothing changes.
   */
  dropBefore(shard: number, before: number, count: number, nowSeconds: number): void;
  /** The number of ids, including expired ones that were not dropped yet. */
  readonly size: number;
  readonly bytes: number;
}

/** An empty index that keeps every id for `windowSeconds` from its acceptance, and the event itself longer. */
export function createDeduplicationIndex(windowSeconds: number): DeduplicationIndex {
  return new ShardedIndex(windowSeconds);
}

class ShardedIndex implements DeduplicationIndex {
  readonly #windowSeconds: number;
  readonly #shards: Shard[];
  #size = 0;
  #bytes = 0;

  constructor(windowSeconds: number) {
    assert(windowSeconds > 0 && Number.isFinite(windowSeconds), 'the deduplication window is positive');
    this.#windowSeconds = windowSeconds;
    // Sizes are spread over one growth step, so that shards do not all fill up at the same time.
    this.#shards = Array.from({ length: SHARDS }, (_, index) =>
      emptyShard(Math.floor(SLOTS_MIN * 1.25 ** (index / SHARDS))),
    );
    for (const shard of this.#shards) this.#bytes += shard.words.byteLength;
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  approach(words: Uint32Array, count: number, wordsPerId = HASH_WORDS): void {
    for (let at = 0; at < count * wordsPerId; at += wordsPerId)
      touchSlot(this.#shardOf(words, at), words, at);
  }

  reserve(words: Uint32Array, at: number, nowSeconds: number, timestampSeconds: number): boolean {
    const accepted = { seconds: nowSeconds, aheadUnits: unitsOf(timestampSeconds - nowSeconds) };
    return this.#put(words, at, accepted, nowSeconds, timestampSeconds) === null;
  }

  isKnown(words: Uint32Array, at: number, nowSeconds: number, timestampSeconds: number): boolean {
    const oldest = lastExpired(nowSeconds, this.#windowSeconds);
    return findSlot(this.#shardOf(words, at), words, at, oldest, timestampSeconds) >= 0;
  }

  eachBefore(shard: number, before: number, visit: (slots: Uint32Array, offset: number) => void): void {
    eachSlotBefore(this.#shardAt(shard), before, visit);
  }

  dropBefore(index: number, before: number, count: number, nowSeconds: number): void {
    const shard = this.#shardAt(index);
    let older = 0;
    eachSlotBefore(shard, before, () => {
      older += 1;
    });
    if (older === count && count > 0) this.#rebuild(shard, 0, nowSeconds, before);
  }

  release(words: Uint32Array, at: number): void {
    const shard = this.#shardOf(words, at);
    const found = findLatest(shard, words, at);
    if (found === null) return;
    releaseSlot(shard, found);
    this.#size -= 1;
  }

  add(words: Uint32Array, at: number, stored: StoredId, nowSeconds: number): number | null {
    const { acceptedSeconds, aheadSeconds } = stored;
    // Ingest stores nothing dated further ahead; if something else did, that must not prevent a start.
    const aheadUnits = unitsOf(Math.min(aheadSeconds, AHEAD_SECONDS_MAX));
    const accepted = { seconds: acceptedSeconds, aheadUnits };
    const oldest = nowSeconds - this.#windowSeconds;
    if (accepted.seconds + accepted.aheadUnits * AHEAD_UNIT_SECONDS < oldest) return null;
    const isWithin = accepted.seconds > oldest;
    const known = this.#put(words, at, accepted, nowSeconds, isWithin ? Number.POSITIVE_INFINITY : oldest);
    if (known === null) return null;
    const shard = this.#shardOf(words, at);
    const heldSeconds = acceptedAt(shard.words, known);
    // Past the window only the event itself has to be known, which any later acceptance of the id ensures as well.
    if (isWithin || heldSeconds <= oldest) mergeInto(shard, known, accepted);
    return isWithin ? heldSeconds : null;
  }

  load(count: number, nowSeconds: number, onKnown?: (firstWord: number) => void): IdsByShard {
    for (const shard of this.#shards) this.#makeRoomIn(shard, Math.ceil(count / SHARDS), nowSeconds);
    return collectByShard(count, (ids, from, to) => {
      // Few are left: ids that are stored more than once, and ids at the end of the window.
      for (const at of this.#fill(ids, from, to, nowSeconds)) {
        const stored = { acceptedSeconds: ids[at + HASH_WORDS] ?? 0, aheadSeconds: 0 };
        if (this.add(ids, at, stored, nowSeconds) !== null) onKnown?.(ids[at] ?? 0);
      }
    });
  }

  /** Loads the ids of one shard and returns the positions of those that are left. */
  #fill(ids: Uint32Array, from: number, to: number, nowSeconds: number): readonly number[] {
    const oldest = lastExpired(nowSeconds, this.#windowSeconds);
    requireStorable(oldest + 1, nowSeconds);
    const shard = this.#shardOf(ids, from);
    this.#makeRoomIn(shard, (to - from) / WORDS_PER_STORED_ID, nowSeconds);
    const before = shard.used;
    const left = fillShard(shard, ids, from, to, oldest);
    this.#size += shard.used - before;
    return left;
  }

  /** Offset of the slot in which this hash is known (see `findSlot`), or null after it was inserted. */
  #put(
    words: Uint32Array,
    at: number,
    accepted: Acceptance,
    nowSeconds: number,
    knownFrom: number,
  ): number | null {
    requireStorable(accepted.seconds, nowSeconds);
    const shard = this.#shardOf(words, at);
    this.#makeRoomIn(shard, 1, nowSeconds);
    const found = findSlot(shard, words, at, lastExpired(nowSeconds, this.#windowSeconds), knownFrom);
    if (found >= 0) return found;
    if (putSlot(shard, ~found, words, at, accepted)) this.#size += 1;
    return null;
  }

  #shardOf(words: Uint32Array, at: number): Shard {
    return this.#shardAt((words[at] ?? 0) & SHARD_MASK);
  }

  #shardAt(index: number): Shard {
    const shard = this.#shards[index];
    assert(shard !== undefined, 'every hash has a shard');
    return shard;
  }

  #makeRoomIn(shard: Shard, ids: number, nowSeconds: number): void {
    if (shard.used + ids > shard.slots * LOAD_MAX) this.#rebuild(shard, ids, nowSeconds);
  }

  /** Drops expired ids and ids accepted before `from`, and makes room for these ids plus a quarter. */
  #rebuild(shard: Shard, ids: number, nowSeconds: number, from = 0): void {
    const oldest = lastExpired(nowSeconds, this.#windowSeconds);
    const { held, kept } = countSlots(shard, oldest, from);
    const slots = Math.max(SLOTS_MIN, Math.ceil((kept + ids) / LOAD_AFTER_REBUILD));
    const rebuilt = shard.used === 0 ? firstShard(slots) : emptyShard(slots);
    moveKept(shard, oldest, rebuilt, from);
    this.#bytes += rebuilt.words.byteLength - shard.words.byteLength;
    this.#size += kept - held;
    Object.assign(shard, rebuilt);
  }
}
