/**
 * A buffer of at least `needed` bytes that begins with the first `used` ones of the given buffer: the same one, or one
 * at least twice as large.
 */
export function withRoom(buffer: Buffer, used: number, needed: number): Buffer {
  if (needed <= buffer.length) return buffer;
  const grown = Buffer.allocUnsafeSlow(Math.max(needed, buffer.length * 2));
  buffer.copy(grown, 0, 0, used);
  return grown;
}
