/**
 * The file layout of a run of ids: a header page, the pages of its slots, and a tail with its directory and its filter.
 * Every page and the tail have a checksum, because a flipped bit on disk must not make an event count twice.
 *
 * A slot has the form of the index in memory (`deduplication-slots.ts`): its first word lacks the bits of the shard, so
 * the directory maps slots to shards. Slots are sorted by shard and second hash word.
 */
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { assert } from '../../../core/errors.ts';
import { SHARDS } from '../deduplication-slots.ts';

export const WORDS_PER_SLOT = 4;
export const PAGE_BYTES = 4_096;
const WORDS_PER_PAGE = PAGE_BYTES / 4;
/** The last word of a page is its checksum. */
const CHECKSUM_AT = WORDS_PER_PAGE - 1;
export const SLOTS_PER_PAGE = Math.floor(CHECKSUM_AT / WORDS_PER_SLOT);

const MAGIC = 'tallyhouse known ids\n';
/** Files of another version are not read. */
const VERSION = 1;

const headerSchema = z.strictObject({
  version: z.literal(VERSION),
  name: z.string(),
  from: z.number(),
  to: z.number(),
  ids: z.number().int().nonnegative(),
  reach: z.number(),
  filterWords: z.number().int().positive(),
  tailChecksum: z.number(),
});

export type RunHeader = z.infer<typeof headerSchema>;

export function encodeHeader(header: Omit<RunHeader, 'version'>): Buffer {
  const page = Buffer.alloc(PAGE_BYTES);
  page.write(`${MAGIC}${JSON.stringify({ version: VERSION, ...header })}`);
  sealPage(page);
  return page;
}

/** Throws if the page is not a header of this version. */
export function decodeHeader(page: Buffer): RunHeader {
  requireWhole(page);
  const end = page.indexOf(0);
  const text = page.toString('utf8', 0, end);
  assert(text.startsWith(MAGIC), 'a file of known ids says so');
  return headerSchema.parse(JSON.parse(text.slice(MAGIC.length)));
}

/** Writes the checksum of a page into it. */
export function sealPage(page: Buffer): void {
  page.writeUInt32LE(crc32(page.subarray(0, CHECKSUM_AT * 4)), CHECKSUM_AT * 4);
}

/** Throws if the page has a wrong checksum. */
export function requireWhole(page: Buffer): void {
  const isWhole =
    page.length === PAGE_BYTES &&
    page.readUInt32LE(CHECKSUM_AT * 4) === crc32(page.subarray(0, CHECKSUM_AT * 4));
  assert(isWhole, 'a page of known ids is as it was written');
}

export function pagesOf(ids: number): number {
  return Math.ceil(ids / SLOTS_PER_PAGE);
}

/** The offset of a page of slots. */
export function pageOffset(page: number): number {
  return (1 + page) * PAGE_BYTES;
}

/** The sort key of slots: exact, because it is below 2^53. */
export function sortKey(shard: number, b: number): number {
  return shard * 0x1_0000_0000 + b;
}

/** The part of a run that is kept in memory to find an id in it. */
export interface Directory {
  /** The number of slots before each shard, and the total at the end. */
  readonly starts: Uint32Array;
  /** The sort key of the first slot of each page. */
  readonly firstKeys: Float64Array;
}

/** The tail follows the filter, which consists of whole cache lines. */
export function tailBytes(ids: number, filterWords: number): number {
  return filterWords * 4 + STARTS_BYTES + pagesOf(ids) * 8;
}

/** The parts of a tail for this many ids as views of its bytes. */
export function tailParts(
  tail: ArrayBuffer,
  ids: number,
  filterWords: number,
): Directory & { readonly filterBits: Uint32Array } {
  const startsAt = filterWords * 4;
  return {
    filterBits: new Uint32Array(tail, 0, filterWords),
    starts: new Uint32Array(tail, startsAt, SHARDS + 1),
    firstKeys: new Float64Array(tail, startsAt + STARTS_BYTES, pagesOf(ids)),
  };
}

/** One start for each shard and one for the end, padded so that the keys are aligned to eight bytes. */
const STARTS_BYTES = (SHARDS + 2) * 4;
