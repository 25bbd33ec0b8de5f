/** Results of 32-bit columns in RowBinary, read as an array of words, without a copy if possible. */
import { assert } from '../../core/errors.ts';

/**
 * All rows consecutively, each of `wordsPerRow` UInt32 columns. RowBinary is little-endian, like every machine that
 * Node is built for except s390x.
 */
export function wordsOf(bytes: Buffer, wordsPerRow: number): Uint32Array {
  assert(bytes.length % (wordsPerRow * 4) === 0, 'ClickHouse returned whole rows');
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes);
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4);
}
