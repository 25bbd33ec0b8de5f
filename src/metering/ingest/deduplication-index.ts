/**
 * The in-memory index of the ids accepted within the window: which hash, and when.
 *
 * A slot is four 32-bit words: three of the hash and the second of acceptance. Open addressing with
 * linear probing, split into shards that grow one at a time, so that no request ever waits for a
 * rehash of everything. An expired or released slot counts as free but keeps its place until its
 * shard is rebuilt, so probe chains never break.
 *
 * Does not know ids, events or storage, and does not read the clock.
 */
import { assert } from '../../core/errors.ts';
import { HASH_WORDS } from './transaction-hash.ts';

export const WORDS_PER_SLOT = HASH_WORDS + 1;
const BYTES_PER_SLOT = WORDS_PER_SLOT * 4;
const TIME = HASH_WORDS;

/** At 10 million ids a shard holds 10,000 and is rebuilt in well under a millisecond. */
const SHARDS = 1024;
/** Smallest shard, in slots; an empty index takes 0.6 MB. */
const SLOTS_MIN = 32;
/** Above this share of used slots a shard is rebuilt: a new id probes 23 neighbouring slots there, 9 on average. */
const LOAD_MAX = 0.85;
/** Share of used slots after a rebuild: 16 bytes ÷ 0.68 = 23.5 bytes per id at worst. */
const LOAD_AFTER_REBUILD = LOAD_MAX / 1.25;

/** Time of a slot never used. */
const NEVER = 0;
/** Time of a released slot: so long ago that it is expired, yet not `NEVER`. */
const RELEASED = 1;

const SECONDS_LIMIT = 0x1_0000_0000;

interface Shard {
  words: Uint32Array;
  slots: number;
  /** Slots that are not `NEVER`, expired and released ones included. */
  used: number;
}

export interface DeduplicationIndex {
  /**
   * True when the hash at `words[at…]` was not accepted within the window, and records it as accepted
   * now; false when it was. `nowSeconds` is whole seconds since the epoch.
   */
  reserve(words: Uint32Array, at: number, nowSeconds: number): boolean;
  /** Takes back what `reserve` recorded, because the write failed. */
  release(words: Uint32Array, at: number): void;
  /** Grows once for this many ids to come, instead of step by step while they are loaded. */
  makeRoom(ids: number, nowSeconds: number): void;
  /**
   * Adds the stored id with the hash at `words[at…]`; of several times of acceptance the earliest counts.
   * Returns the time with which the id was held already, or null where it was not, or is past the window.
   */
  add(words: Uint32Array, at: number, acceptedSeconds: number, nowSeconds: number): number | null;
  /**
   * Adds stored ids: slots of three hash words and the second of acceptance. Calls `onKnown` with the
   * offset of every one that was held already.
   */
  load(slots: Uint32Array, nowSeconds: number, onKnown?: (at: number) => void): void;
  /** Ids held, including those that expired and were not yet dropped. */
  readonly size: number;
  readonly bytes: number;
}

/** An empty index that remembers every id for `windowSeconds` from its acceptance. */
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

  reserve(words: Uint32Array, at: number, nowSeconds: number): boolean {
    return this.#put(words, at, nowSeconds, nowSeconds) === null;
  }

  release(words: Uint32Array, at: number): void {
    const shard = this.#shardOf(words, at);
    const found = find(shard, words, at);
    if (found === null || shard.words[found + TIME] === RELEASED) return;
    shard.words[found + TIME] = RELEASED;
    this.#size -= 1;
  }

  makeRoom(ids: number, nowSeconds: number): void {
    for (const shard of this.#shards) this.#makeRoomIn(shard, Math.ceil(ids / SHARDS), nowSeconds);
  }

  add(words: Uint32Array, at: number, acceptedSeconds: number, nowSeconds: number): number | null {
    if (nowSeconds - acceptedSeconds >= this.#windowSeconds) return null;
    const live = this.#put(words, at, acceptedSeconds, nowSeconds);
    if (live === null) return null;
    const shard = this.#shardOf(words, at);
    const heldSeconds = shard.words[live + TIME] ?? NEVER;
    if (heldSeconds > acceptedSeconds) shard.words[live + TIME] = acceptedSeconds;
    return heldSeconds;
  }

  load(slots: Uint32Array, nowSeconds: number, onKnown?: (at: number) => void): void {
    assert(slots.length % WORDS_PER_SLOT === 0, 'loaded ids are whole slots');
    for (let at = 0; at < slots.length; at += WORDS_PER_SLOT) {
      const heldSeconds = this.add(slots, at, slots[at + TIME] ?? NEVER, nowSeconds);
      if (heldSeconds !== null) onKnown?.(at);
    }
  }

  /** Offset of the live slot with this hash, or null after it was put in with `acceptedSeconds`. */
  #put(words: Uint32Array, at: number, acceptedSeconds: number, nowSeconds: number): number | null {
    // Outside these bounds a second would not survive its 32 bits and the id would be forgotten.
    assert(
      acceptedSeconds > RELEASED && nowSeconds < SECONDS_LIMIT,
      'the clock stands between 1970 and 2106',
    );
    const shard = this.#shardOf(words, at);
    this.#makeRoomIn(shard, 1, nowSeconds);
    const a = words[at] ?? 0;
    const b = words[at + 1] ?? 0;
    const c = words[at + 2] ?? 0;
    const slots = shard.words;
    const oldest = this.#lastExpired(nowSeconds);
    let free = -1;
    let offset = firstOffset(shard, b);
    for (;;) {
      const time = slots[offset + TIME] ?? NEVER;
      if (time === NEVER) break;
      const isSame = slots[offset] === a && slots[offset + 1] === b && slots[offset + 2] === c;
      if (time > oldest) {
        if (isSame) return offset;
      } else if (isSame || free === -1) {
        // The hash may still stand further on in the chain, unless this slot is its own.
        free = offset;
        if (isSame) break;
      }
      offset += WORDS_PER_SLOT;
      if (offset === slots.length) offset = 0;
    }
    if (free === -1) {
      free = offset;
      shard.used += 1;
      this.#size += 1;
    } else if (slots[free + TIME] === RELEASED) {
      this.#size += 1;
    }
    slots[free] = a;
    slots[free + 1] = b;
    slots[free + 2] = c;
    slots[free + TIME] = acceptedSeconds;
    return null;
  }

  /** Slots of this second and before are free. Never below `RELEASED`, so that those are free as well. */
  #lastExpired(nowSeconds: number): number {
    return Math.max(RELEASED, nowSeconds - this.#windowSeconds);
  }

  #shardOf(words: Uint32Array, at: number): Shard {
    const shard = this.#shards[(words[at] ?? 0) % SHARDS];
    assert(shard !== undefined, 'every hash has a shard');
    return shard;
  }

  #makeRoomIn(shard: Shard, ids: number, nowSeconds: number): void {
    if (shard.used + ids > shard.slots * LOAD_MAX) this.#rebuild(shard, ids, nowSeconds);
  }

  /** Drops what has expired and leaves room for these ids, and for a quarter more than all of them. */
  #rebuild(shard: Shard, ids: number, nowSeconds: number): void {
    const old = shard.words;
    const oldest = this.#lastExpired(nowSeconds);
    let live = 0;
    let held = 0;
    for (let offset = TIME; offset < old.length; offset += WORDS_PER_SLOT) {
      const time = old[offset] ?? NEVER;
      if (time !== NEVER && time !== RELEASED) held += 1;
      if (time > oldest) live += 1;
    }
    const rebuilt = emptyShard(Math.max(SLOTS_MIN, Math.ceil((live + ids) / LOAD_AFTER_REBUILD)));
    moveLive(old, oldest, rebuilt);
    this.#bytes += rebuilt.words.byteLength - old.byteLength;
    this.#size += live - held;
    shard.words = rebuilt.words;
    shard.slots = rebuilt.slots;
    shard.used = live;
  }
}

function emptyShard(slots: number): Shard {
  return { words: new Uint32Array(new ArrayBuffer(slots * BYTES_PER_SLOT)), slots, used: 0 };
}

/** Where the probe for a hash begins: its second word scaled to the size of the shard. */
function firstOffset(shard: Shard, b: number): number {
  return Math.floor((b * shard.slots) / 0x1_0000_0000) * WORDS_PER_SLOT;
}

/** Copies the slots of `old` that are later than `oldest` into an empty shard with room for them. */
function moveLive(old: Uint32Array, oldest: number, rebuilt: Shard): void {
  const { words } = rebuilt;
  for (let offset = 0; offset < old.length; offset += WORDS_PER_SLOT) {
    const time = old[offset + TIME] ?? NEVER;
    if (time <= oldest) continue;
    const b = old[offset + 1] ?? 0;
    let target = firstOffset(rebuilt, b);
    while (words[target + TIME] !== NEVER) {
      target += WORDS_PER_SLOT;
      if (target === words.length) target = 0;
    }
    words[target] = old[offset] ?? 0;
    words[target + 1] = b;
    words[target + 2] = old[offset + 2] ?? 0;
    words[target + TIME] = time;
  }
}

/** Offset of the slot with this hash, expired or not, or null. */
function find(shard: Shard, words: Uint32Array, at: number): number | null {
  const slots = shard.words;
  let offset = firstOffset(shard, words[at + 1] ?? 0);
  while (slots[offset + TIME] !== NEVER) {
    const isSame =
      slots[offset] === words[at] &&
      slots[offset + 1] === words[at + 1] &&
      slots[offset + 2] === words[at + 2];
    if (isSame) return offset;
    offset += WORDS_PER_SLOT;
    if (offset === slots.length) offset = 0;
  }
  return null;
}
