/** A hash of bytes, for hash tables in memory. Different texts may share a hash. */

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a of the bytes from `start` to `end`: a signed 32-bit integer. */
export function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = OFFSET | 0;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), PRIME);
  return hash;
}

/** `hashBytes` of a text in UTF-8. */
export function hashText(text: string): number {
  const bytes = Buffer.from(text, 'utf8');
  return hashBytes(bytes, 0, bytes.length);
}

/** Combines two hashes. */
export function mixHashes(one: number, other: number): number {
  const product = Math.imul(one ^ 0x5bd1e995, 0x85ebca6b) ^ Math.imul(other, 0xc2b2ae35);
  return (product ^ (product >>> 15)) | 0;
}
