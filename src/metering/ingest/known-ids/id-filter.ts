/**
 * A filter over the hashes of ids: a hash was certainly not added, or may have been.
 *
 * A Bloom filter in blocks of one cache line, so that a lookup waits for memory once. The third word of the hash
 * selects the block, the first two select the bits in it. docs/explanation/deduplication.md lists the alternatives that
 * were tried.
 */

/**
 * 1.75 bytes for an id; the false positive rate is 1 in 500.
 */
const BITS_PER_ID = 14;
const BITS_SET = 8;
/** 64 bytes. */
const WORDS_PER_BLOCK = 16;
const BITS_PER_BLOCK = WORDS_PER_BLOCK * 32;
/** Shifts a word to its first bits, which select one of the 512 bits of a block. */
const BIT_SHIFT = 23;
const WORD_VALUES = 0x1_0000_0000;

export interface IdFilter {
  /** The words in stored form. */
  readonly words: Uint32Array;
  /** Adds the hash of these words. */
  add(a: number, b: number, c: number): void;
  mayHave(a: number, b: number, c: number): boolean;
  /** Prefetches the block of a hash with this third word; nothing changes. */
  touch(c: number): void;
}

/** An empty filter for this many ids. */
export function createIdFilter(ids: number): IdFilter {
  const blocks = Math.max(1, Math.ceil((ids * BITS_PER_ID) / BITS_PER_BLOCK));
  return idFilterOf(new Uint32Array(blocks * WORDS_PER_BLOCK));
}

/** The filter with these stored words. */
export function idFilterOf(words: Uint32Array): IdFilter {
  return new BlockedBloomFilter(words);
}

class BlockedBloomFilter implements IdFilter {
  readonly words: Uint32Array;
  readonly #blocks: number;

  constructor(words: Uint32Array) {
    this.words = words;
    this.#blocks = words.length / WORDS_PER_BLOCK;
  }

  add(a: number, b: number, c: number): void {
    const { words } = this;
    const block = this.#offset(c);
    const step = b | 1;
    for (let i = 0, bits = a | 0; i < BITS_SET; i += 1, bits = (bits + step) | 0) {
      const bit = bits >>> BIT_SHIFT;
      const at = block + (bit >>> 5);
      words[at] = (words[at] ?? 0) | (1 << (bit & 31));
    }
  }

  mayHave(a: number, b: number, c: number): boolean {
    const { words } = this;
    const block = this.#offset(c);
    const step = b | 1;
    for (let i = 0, bits = a | 0; i < BITS_SET; i += 1, bits = (bits + step) | 0) {
      const bit = bits >>> BIT_SHIFT;
      if (((words[block + (bit >>> 5)] ?? 0) & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }

  touch(c: number): void {
    const at = this.#offset(c);
    // Writes instead of only reading, because the compiler drops a loop without an effect.
    this.words[at] = this.words[at] ?? 0;
  }

  #offset(c: number): number {
    return Math.floor((c * this.#blocks) / WORD_VALUES) * WORDS_PER_BLOCK;
  }
}
