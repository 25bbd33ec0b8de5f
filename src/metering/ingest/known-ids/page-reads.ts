/**
 * Reads pages of runs, described as words that are cheap to send to another thread, and finds ids in them. Reading is
 * synchronous: it runs on a separate thread (`reading-thread.ts`), so that neither the event loop nor inserts wait for
 * it.
 */
import { readSync } from 'node:fs';
import { assert } from '../../../core/errors.ts';
import { messageOf } from '../../../core/failures.ts';
import { isSlotOf, unpackSlot } from '../deduplication-slots.ts';
import { HASH_WORDS } from '../transaction-hash.ts';
import { PAGE_BYTES, pageOffset, requireWhole, WORDS_PER_SLOT } from './run-layout.ts';

/** Words of a page to read: its file, its number, and the end of its lookups. */
export const WORDS_PER_READ = 3;
/** Words of a lookup in a page: the index of the hash, and the range of slots that can contain it. */
export const WORDS_PER_LOOKUP = 3;
/** Words of a result: the index of the hash, the second of acceptance, and how far ahead the event was dated. */
export const WORDS_PER_FOUND = 3;

export interface PageReads {
  /** Open files of this process. */
  readonly files: readonly number[];
  /** The pages, in file order. */
  readonly reads: Uint32Array;
  readonly lookups: Uint32Array;
  readonly hashes: Uint32Array;
}

export interface PagesRead {
  readonly found: Uint32Array;
  /** Unreadable pages, by their index in `reads`, and the error of the first one. */
  readonly unread: readonly number[];
  readonly problem: string | null;
}

export function readPages({ files, reads, lookups, hashes }: PageReads): PagesRead {
  const page = Buffer.allocUnsafeSlow(PAGE_BYTES);
  const slots = new Uint32Array(page.buffer, page.byteOffset, PAGE_BYTES / 4);
  const found: number[] = [];
  const unread: number[] = [];
  let problem: string | null = null;
  let lookup = 0;
  for (let at = 0; at < reads.length; at += WORDS_PER_READ) {
    const end = (reads[at + 2] ?? 0) * WORDS_PER_LOOKUP;
    try {
      const bytes = readSync(
        files[reads[at] ?? 0] ?? -1,
        page,
        0,
        PAGE_BYTES,
        pageOffset(reads[at + 1] ?? 0),
      );
      assert(bytes === PAGE_BYTES, 'a file of known ids is not cut short');
      requireWhole(page);
      for (; lookup < end; lookup += WORDS_PER_LOOKUP) {
        const place = lookups[lookup] ?? 0;
        const within = { from: lookups[lookup + 1] ?? 0, to: lookups[lookup + 2] ?? 0 };
        find(slots, within, hashes, place, found);
      }
    } catch (error) {
      unread.push(at / WORDS_PER_READ);
      problem ??= messageOf(error);
    }
    lookup = end;
  }
  return { found: Uint32Array.from(found), unread, problem };
}

/** Slots of one shard are in the order of their second word. */
function find(
  slots: Uint32Array,
  { from, to }: { readonly from: number; readonly to: number },
  hashes: Uint32Array,
  place: number,
  found: number[],
): void {
  const at = place * HASH_WORDS;
  const second = hashes[at + 1] ?? 0;
  let low = from;
  for (let high = to; low < high; ) {
    const middle = (low + high) >>> 1;
    if ((slots[middle * WORDS_PER_SLOT + 1] ?? 0) < second) low = middle + 1;
    else high = middle;
  }
  for (let slot = low; slot < to && slots[slot * WORDS_PER_SLOT + 1] === second; slot += 1) {
    const offset = slot * WORDS_PER_SLOT;
    if (!isSlotOf(slots, offset, hashes, at)) continue;
    const { seconds, aheadUnits } = unpackSlot(slots, offset);
    found.push(place, seconds, aheadUnits);
  }
}
