/** Texts in ClickHouse's RowBinary: the length in bytes as a variable-length integer, then UTF-8. */
import { assert } from '../../core/errors.ts';

const CONTINUED = 0x80;
const LOW_BITS = 0x7f;
/** The length of the longest possible row takes four bytes. */
const LENGTH_BYTES_MAX = 4;

/** The maximum bytes of a text with this many UTF-16 code units. */
export function textBytesMax(codeUnits: number): number {
  return LENGTH_BYTES_MAX + 3 * codeUnits;
}

/** The maximum bytes of a length. */
export function lengthBytes(length: number): number {
  return length <= LOW_BITS ? 1 : length < 1 << 14 ? 2 : length < 1 << 21 ? 3 : LENGTH_BYTES_MAX;
}

/** Writes a length and returns the offset after it. */
export function writeLength(bytes: Buffer, offset: number, length: number): number {
  let rest = length;
  let end = offset;
  while (rest > LOW_BITS) {
    bytes[end] = (rest & LOW_BITS) | CONTINUED;
    rest >>>= 7;
    end += 1;
  }
  bytes[end] = rest;
  return end + 1;
}

/** Writes a text and returns the offset after it; there must be room for `textBytesMax`. */
export function writeText(bytes: Buffer, offset: number, text: string): number {
  const start = writeLength(bytes, offset, Buffer.byteLength(text));
  return start + bytes.write(text, start, 'utf8');
}

/** Reads sequentially. */
export class RowReader {
  readonly #bytes: Buffer;
  offset: number;

  constructor(bytes: Buffer, offset = 0) {
    this.#bytes = bytes;
    this.offset = offset;
  }

  get isAtEnd(): boolean {
    return this.offset === this.#bytes.length;
  }

  length(): number {
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.offset];
      assert(byte !== undefined && shift < 7 * LENGTH_BYTES_MAX, 'a row is whole');
      this.offset += 1;
      length += (byte & LOW_BITS) << shift;
      if (byte < CONTINUED) return length;
    }
  }

  text(): string {
    const length = this.length();
    this.offset += length;
    assert(this.offset <= this.#bytes.length, 'a row is whole');
    return this.#bytes.toString('utf8', this.offset - length, this.offset);
  }

  skipText(): void {
    const length = this.length();
    this.offset += length;
  }
}
