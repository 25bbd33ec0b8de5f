/**
 * A set of customer references that may contain more than was added, never less: 65,536 bits, one of which each
 * reference sets. A false positive delays a read by milliseconds; a false negative would make it wrong.
 */
const BITS = 16;
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

export class CustomerSet {
  readonly #bits = new Uint8Array(2 ** BITS / 8);

  /** Adds the reference whose UTF-8 bytes are in this range. */
  add(bytes: Uint8Array, start: number, end: number): void {
    const bit = bitOf(bytes, start, end);
    this.#bits[bit >>> 3] = (this.#bits[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }

  mayHave(ref: string): boolean {
    const bytes = Buffer.from(ref);
    const bit = bitOf(bytes, 0, bytes.length);
    return ((this.#bits[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }
}

function bitOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = FNV_OFFSET;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), FNV_PRIME);
  return (hash ^ (hash >>> BITS)) & (2 ** BITS - 1);
}
