/**
 * The slots of the deduplication index: their layout, and probing. A slot is three words of hash and the second of
 * acceptance.
 *
 * The shard is chosen by the last bits of the first hash word, so these are the same in all of its slots. These
 * bits store how far ahead of its acceptance the event was dated.
 */
import { assert } from '../../core/errors.ts';
import { HASH_WORDS } from './transaction-hash.ts';
import { uncountedWords } from './uncounted-words.ts';

const WORDS_PER_SLOT = HASH_WORDS + 1;
const BYTES_PER_SLOT = WORDS_PER_SLOT * 4;
const TIME = HASH_WORDS;

/** At 10 million ids a shard holds 10,000 and is rebuilt in well under a millisecond. */
export const SHARDS = 1024;
const SHARD_BITS = 10;
/** The mask of the bits that select the shard: `hash & SHARD_MASK` takes half the time of a remainder. */
export const SHARD_MASK = SHARDS - 1;

/** Times ahead are rounded up to this unit. */
export const AHEAD_UNIT_SECONDS = 90;
/** The maximum that a slot can store: 25.6 hours, while ingest allows 24. */
export const AHEAD_SECONDS_MAX = SHARD_MASK * AHEAD_UNIT_SECONDS;

/** For cache lines of 64 bytes; if they are longer, a few are touched twice. */
const WORDS_PER_CACHE_LINE = 16;

/** Time of a slot never used. */
const NEVER = 0;
/** Time of a released slot: expired, but not `NEVER`. */
const RELEASED = 1;

const SECONDS_LIMIT = 0x1_0000_0000;

/** When an id was accepted, and how far ahead of that its event was dated. */
export interface Acceptance {
  readonly seconds: number;
  readonly aheadUnits: number;
}

export interface Shard {
  words: Uint32Array;
  slots: number;
  /** Slots that are not `NEVER`, expired and released ones included. */
  used: number;
}

/** Seconds outside these bounds do not fit 32 bits. */
export function requireStorable(acceptedSeconds: number, nowSeconds: number): void {
  assert(acceptedSeconds > RELEASED && nowSeconds < SECONDS_LIMIT, 'the clock stands between 1970 and 2106');
}

/**
 * Slots of this second and before are past the window. Never below `RELEASED`, so that released slots are included.
 */
export function lastExpired(nowSeconds: number, windowSeconds: number): number {
  return Math.max(RELEASED, nowSeconds - windowSeconds);
}

export function emptyShard(slots: number): Shard {
  return { words: new Uint32Array(new ArrayBuffer(slots * BYTES_PER_SLOT)), slots, used: 0 };
}

/** `newShard` for the first shard, which replaces no ids. */
export function firstShard(slots: number): Shard {
  return { words: uncountedWords(slots * WORDS_PER_SLOT), slots, used: 0 };
}

/** The start of the probe for a hash: its second word scaled to the size of the shard. */
function firstOffset(shard: Shard, b: number): number {
  return Math.floor((b * shard.slots) / 0x1_0000_0000) * WORDS_PER_SLOT;
}

/**
 * Brings the first slot of the probe for the hash at `words[at…]` into the caches of the processor. Writes instead of
 * only reading, because the compiler drops a loop without an effect.
 */
export function touchSlot(shard: Shard, words: Uint32Array, at: number): void {
  const offset = firstOffset(shard, words[at + 1] ?? 0);
  shard.words[offset] = shard.words[offset] ?? 0;
}

/** Whether the slot has this hash, given that its shard matches. */
function isSameHash(slots: Uint32Array, offset: number, a: number, b: number, c: number): boolean {
  return (
    slots[offset + 1] === b && slots[offset + 2] === c && ((slots[offset] ?? 0) ^ a) >>> SHARD_BITS === 0
  );
}

/** Whether a slot is within the window, or its event could still be sent again. */
function isKept(slots: Uint32Array, offset: number, oldest: number): boolean {
  return (slots[offset + TIME] ?? NEVER) > RELEASED && reachOf(slots, offset) >= oldest;
}

/** The second of acceptance, or the last second of the timestamp if that is later. */
export function reachOf(slots: Uint32Array, offset: number): number {
  return (slots[offset + TIME] ?? NEVER) + aheadUnitsOf(slots, offset) * AHEAD_UNIT_SECONDS;
}

function aheadUnitsOf(slots: Uint32Array, offset: number): number {
  return (slots[offset] ?? 0) & SHARD_MASK;
}

/** The first word of a slot, computed from that of the hash. */
function firstWord(a: number, aheadUnits: number): number {
  return (a & ~SHARD_MASK) | aheadUnits;
}

/** Units that cover this many seconds; 0 for a timestamp that is not ahead. */
export function unitsOf(aheadSeconds: number): number {
  const units = Math.max(0, Math.ceil(aheadSeconds / AHEAD_UNIT_SECONDS));
  assert(units <= SHARD_MASK, 'an event is dated at most a day ahead');
  return units;
}

/**
 * The slot in which the hash at `words[at…]` is known, or else the complement (`~`) of the slot for it. It is known in
 * a slot later than `oldest`, and in an older one that is kept and whose event is dated at `knownFrom` or later.
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a call for each byte or id would cost more than the work itself.
export function findSlot(
  shard: Shard,
  words: Uint32Array,
  at: number,
  oldest: number,
  knownFrom: number,
): number {
  const slots = shard.words;
  const a = words[at] ?? 0;
  const b = words[at + 1] ?? 0;
  const c = words[at + 2] ?? 0;
  let free = -1;
  let offset = firstOffset(shard, b);
  // To the end of the chain: a hash has two slots if it was accepted again while the first is still kept.
  for (;;) {
    const time = slots[offset + TIME] ?? NEVER;
    if (time === NEVER) break;
    // `isSameHash` inlined: the call costs a third of a lookup.
    const isSame =
      slots[offset + 1] === b && slots[offset + 2] === c && ((slots[offset] ?? 0) ^ a) >>> SHARD_BITS === 0;
    if (time > oldest) {
      if (isSame) return offset;
    } else if (!isKept(slots, offset, oldest)) {
      // A free slot with the same hash is preferred, so that a hash does not occupy many slots.
      if (isSame || free === -1) free = offset;
    } else if (isSame && reachOf(slots, offset) >= knownFrom) return offset;
    offset += WORDS_PER_SLOT;
    if (offset === slots.length) offset = 0;
  }
  return ~(free === -1 ? offset : free);
}

/** Writes the hash at `words[at…]` into a slot returned by `findSlot`. Returns whether the slot was free. */
export function putSlot(
  shard: Shard,
  offset: number,
  words: Uint32Array,
  at: number,
  accepted: Acceptance,
): boolean {
  const slots = shard.words;
  const time = slots[offset + TIME] ?? NEVER;
  if (time === NEVER) shard.used += 1;
  slots[offset] = firstWord(words[at] ?? 0, accepted.aheadUnits);
  slots[offset + 1] = words[at + 1] ?? 0;
  slots[offset + 2] = words[at + 2] ?? 0;
  slots[offset + TIME] = accepted.seconds;
  return time === NEVER || time === RELEASED;
}

/**
 * Inserts the hashes at `ids[from…to]`, each with its second of acceptance, into a shard with room for them. Skips ids
 * that may be duplicates, are expired (accepted at `oldest` or before), or collide with an expired slot, and returns
 * their positions: `add` has to handle them. One loop over plain words, because a start runs every id of the window
 * through it.
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a call for each byte or id would cost more than the work itself.
export function fillShard(
  shard: Shard,
  ids: Uint32Array,
  from: number,
  to: number,
  oldest: number,
): readonly number[] {
  const slots = shard.words;
  bringIntoCache(slots);
  const others: number[] = [];
  for (let at = from; at < to; at += WORDS_PER_SLOT) {
    const a = ids[at] ?? 0;
    const b = ids[at + 1] ?? 0;
    const c = ids[at + 2] ?? 0;
    const seconds = ids[at + TIME] ?? NEVER;
    let offset = firstOffset(shard, b);
    let time = slots[offset + TIME] ?? NEVER;
    // `isSameHash` inlined, as in `findSlot`.
    while (
      time > oldest &&
      !(slots[offset + 1] === b && slots[offset + 2] === c && ((slots[offset] ?? 0) ^ a) >>> SHARD_BITS === 0)
    ) {
      offset += WORDS_PER_SLOT;
      if (offset === slots.length) offset = 0;
      time = slots[offset + TIME] ?? NEVER;
    }
    if (time !== NEVER || seconds <= oldest) {
      others.push(at);
      continue;
    }
    slots[offset] = firstWord(a, 0);
    slots[offset + 1] = b;
    slots[offset + 2] = c;
    slots[offset + TIME] = seconds;
    shard.used += 1;
  }
  return others;
}

/**
 * Reads a shard sequentially, so that the processor prefetches it. Slot by slot, each access would wait. Written like
 * `touchSlot`.
 */
function bringIntoCache(slots: Uint32Array): void {
  for (let at = 0; at < slots.length; at += WORDS_PER_CACHE_LINE) slots[at] = slots[at] ?? 0;
}

/** The earlier of two acceptances of an id counts; in the same second, the one dated further ahead. */
export function mergeInto({ words: slots }: Shard, offset: number, accepted: Acceptance): void {
  const held = acceptedAt(slots, offset);
  if (held < accepted.seconds) return;
  const known = held === accepted.seconds ? aheadUnitsOf(slots, offset) : 0;
  slots[offset] = firstWord(slots[offset] ?? 0, Math.max(known, accepted.aheadUnits));
  slots[offset + TIME] = accepted.seconds;
}

export function releaseSlot({ words: slots }: Shard, offset: number): void {
  slots[offset + TIME] = RELEASED;
}

/** The second of acceptance. */
export function acceptedAt(slots: Uint32Array, offset: number): number {
  return slots[offset + TIME] ?? NEVER;
}

/** Whether the slot, whose shard matches this hash, has the hash at `words[at…]`. */
export function isSlotOf(slots: Uint32Array, offset: number, words: Uint32Array, at: number): boolean {
  return isSameHash(slots, offset, words[at] ?? 0, words[at + 1] ?? 0, words[at + 2] ?? 0);
}

export function unpackSlot(slots: Uint32Array, offset: number): Acceptance {
  return { seconds: acceptedAt(slots, offset), aheadUnits: aheadUnitsOf(slots, offset) };
}

/** Calls `visit` with each slot that holds an id accepted before this second, expired or not. */
export function eachSlotBefore(
  { words: slots }: Shard,
  before: number,
  visit: (slots: Uint32Array, offset: number) => void,
): void {
  for (let offset = 0; offset < slots.length; offset += WORDS_PER_SLOT) {
    const time = slots[offset + TIME] ?? NEVER;
    if (time > RELEASED && time < before) visit(slots, offset);
  }
}

/**
 * The number of slots that hold an id, expired or not, and of those that are kept and accepted at `from` or later.
 */
export function countSlots(
  { words: slots }: Shard,
  oldest: number,
  from: number,
): { held: number; kept: number } {
  let held = 0;
  let kept = 0;
  for (let offset = 0; offset < slots.length; offset += WORDS_PER_SLOT) {
    if ((slots[offset + TIME] ?? NEVER) > RELEASED) held += 1;
    if (isKept(slots, offset, oldest) && (slots[offset + TIME] ?? NEVER) >= from) kept += 1;
  }
  return { held, kept };
}

/**
 * Copies the kept slots of `old` that were accepted at `from` or later into an empty shard with room for them.
 */
export function moveKept({ words: old }: Shard, oldest: number, rebuilt: Shard, from = 0): void {
  const { words } = rebuilt;
  for (let offset = 0; offset < old.length; offset += WORDS_PER_SLOT) {
    if (!isKept(old, offset, oldest) || (old[offset + TIME] ?? NEVER) < from) continue;
    const b = old[offset + 1] ?? 0;
    let target = firstOffset(rebuilt, b);
    while (words[target + TIME] !== NEVER) {
      target += WORDS_PER_SLOT;
      if (target === words.length) target = 0;
    }
    words[target] = old[offset] ?? 0;
    words[target + 1] = b;
    words[target + 2] = old[offset + 2] ?? 0;
    words[target + TIME] = old[offset + TIME] ?? NEVER;
    rebuilt.used += 1;
  }
}

/** Offset of the latest slot with this hash, expired or not, or null. */
export function findLatest(shard: Shard, words: Uint32Array, at: number): number | null {
  const slots = shard.words;
  const a = words[at] ?? 0;
  const b = words[at + 1] ?? 0;
  const c = words[at + 2] ?? 0;
  let found: number | null = null;
  let latest = RELEASED;
  let offset = firstOffset(shard, b);
  for (;;) {
    const time = slots[offset + TIME] ?? NEVER;
    if (time === NEVER) return found;
    if (time > latest && isSameHash(slots, offset, a, b, c)) {
      found = offset;
      latest = time;
    }
    offset += WORDS_PER_SLOT;
    if (offset === slots.length) offset = 0;
  }
}
