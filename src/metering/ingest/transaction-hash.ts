/**
 * A fast 96-bit hash of transaction ids: four multiply-rotate lanes of 32 bits over UTF-16 code units (the construction
 * of MurmurHash3 x86-128), reduced to three words.
 *
 * The hash is stored with every event, so it must never change: a test pins its values. It is not cryptographic: a
 * sender who crafts two ids with the same hash only loses their own second event.
 */

/** Words of a hash. 96 bits put a false duplicate at 100 million ids at about 1e-21 per event. */
export const HASH_WORDS = 3;

const C1 = 0x239b961b;
const C2 = 0xab0e9789 | 0;
const C3 = 0x38b34ae5;
const C4 = 0xa1e38b93 | 0;

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function finalize(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** Two code units as one 32-bit word; past the end they read as 0. */
function word(units: Uint16Array, length: number, at: number): number {
  const low = at < length ? (units[at] ?? 0) : 0;
  const high = at + 1 < length ? (units[at + 1] ?? 0) : 0;
  return low | (high << 16);
}

const CODE_UNITS_PER_BLOCK = 8;

/** Writes the hash of `id` into the first `HASH_WORDS` words of `into` from `at` on. */
export function hashTransactionId(id: string, into: Uint32Array, at = 0): void {
  const units = new Uint16Array(id.length);
  for (let i = 0; i < id.length; i += 1) units[i] = id.charCodeAt(i);
  hashCodeUnits(units, id.length, into, at);
}

/** The hash of an id with this many UTF-16 code units. Allocates nothing. */
export function hashCodeUnits(units: Uint16Array, length: number, into: Uint32Array, at: number): void {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  // A last block of fewer units is filled with zeros; mixing in the length below distinguishes such ids.
  for (let i = 0; i < length; i += CODE_UNITS_PER_BLOCK) {
    a ^= Math.imul(rotate(Math.imul(word(units, length, i), C1), 15), C2);
    a = (Math.imul((rotate(a, 19) + b) | 0, 5) + 0x561ccd1b) | 0;
    b ^= Math.imul(rotate(Math.imul(word(units, length, i + 2), C2), 16), C3);
    b = (Math.imul((rotate(b, 17) + c) | 0, 5) + 0x0bcaa747) | 0;
    c ^= Math.imul(rotate(Math.imul(word(units, length, i + 4), C3), 17), C4);
    c = (Math.imul((rotate(c, 15) + d) | 0, 5) + 0x96cd1c35) | 0;
    d ^= Math.imul(rotate(Math.imul(word(units, length, i + 6), C4), 18), C1);
    d = (Math.imul((rotate(d, 13) + a) | 0, 5) + 0x32ac3b17) | 0;
  }
  a ^= length;
  b ^= length;
  c ^= length;
  d ^= length;
  a = (a + b + c + d) | 0;
  b = finalize((b + a) | 0);
  c = finalize((c + a) | 0);
  d = finalize((d + a) | 0);
  a = finalize(a);
  a = (a + b + c + d) | 0;
  into[at] = a;
  into[at + 1] = (b + a) | 0;
  into[at + 2] = (c + a) | 0;
}
