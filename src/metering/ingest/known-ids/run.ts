/**
 * A run: the ids of an interval of acceptance, sorted, in an immutable file. In memory it has a filter and the first
 * key of each page, so most other ids are excluded at once, and any id costs at most one read of a page.
 *
 * Exact: a page contains the hash and the second of acceptance from the index in memory. Throws if the file is damaged.
 */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { assert } from '../../../core/errors.ts';
import { SHARD_MASK } from '../deduplication-slots.ts';
import { type IdFilter, idFilterOf } from './id-filter.ts';
import {
  type Directory,
  decodeHeader,
  PAGE_BYTES,
  pageOffset,
  pagesOf,
  type RunHeader,
  requireWhole,
  SLOTS_PER_PAGE,
  sortKey,
  tailBytes,
  tailParts,
} from './run-layout.ts';

/** A run without its file, as in the record of all runs. */
export interface RunSummary {
  /** The unique name of the file. */
  readonly name: string;
  /** It contains every id accepted from this second on and before `to`. */
  readonly from: number;
  readonly to: number;
  readonly ids: number;
}

export interface Run extends RunSummary {
  readonly filter: IdFilter;
  /** The last possible second of its events' timestamps, if that is later than `to`. */
  readonly reach: number;
  /** Its size in memory. */
  readonly bytes: number;
  /** The first and last page that can hold the hash at `words[at…]`. */
  pagesFor(words: Uint32Array, at: number): { readonly first: number; readonly last: number };
  /** Reads pages from this one on into a buffer of whole pages. Resolves with the number of pages read. */
  readPages(first: number, into: Buffer): Promise<number>;
  /** The range of slots of the page that can hold the hash at `words[at…]`: those of its shard. */
  slotsIn(page: number, words: Uint32Array, at: number): { readonly from: number; readonly to: number };
  /** The open file descriptor; `hold` keeps it open. */
  readonly fd: number;
  /** The number of slots before each shard, and the total at the end. */
  readonly starts: Uint32Array;
  readonly pages: number;
  /** Keeps the file open until `unhold`, even if the run is closed in between. */
  hold(): void;
  unhold(): void;
  close(): Promise<void>;
}

/** Throws if the file is missing, damaged, of another version or not that of the summary. */
export async function openRun(directory: string, summary: RunSummary): Promise<Run> {
  const handle = await open(join(directory, summary.name), 'r');
  try {
    const header = decodeHeader(await readAt(handle, 0, PAGE_BYTES));
    const { name, from, to, ids } = header;
    const isThat = name === summary.name && from === summary.from && to === summary.to && ids === summary.ids;
    assert(isThat, 'a file of known ids is the one that was written');
    const tail = new ArrayBuffer(tailBytes(ids, header.filterWords));
    await readInto(handle, pageOffset(pagesOf(ids)), new Uint8Array(tail));
    assert(checksumOf(tail) === header.tailChecksum, 'the filter of known ids is as it was written');
    return new FileRun(directory, handle, header, tail);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** In pieces, so that the thread is not blocked for long. */
const PIECE_BYTES = 16 * 1024 * 1024;

async function readInto(handle: FileHandle, from: number, into: Uint8Array): Promise<void> {
  for (let at = 0; at < into.length; ) {
    const { bytesRead } = await handle.read(into, at, Math.min(PIECE_BYTES, into.length - at), from + at);
    assert(bytesRead > 0, 'a file of known ids is not cut short');
    at += bytesRead;
  }
}

async function readAt(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  await readInto(handle, from, bytes);
  return bytes;
}

export function checksumOf(tail: ArrayBuffer): number {
  return crc32(new Uint8Array(tail));
}

class FileRun implements Run {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly ids: number;
  readonly reach: number;
  readonly filter: IdFilter;
  readonly bytes: number;
  readonly pages: number;
  readonly #handle: FileHandle;
  readonly #directory: Directory;
  #holds = 1;
  #isClosed = false;

  constructor(_directory: string, handle: FileHandle, header: RunHeader, tail: ArrayBuffer) {
    ({ name: this.name, from: this.from, to: this.to, ids: this.ids, reach: this.reach } = header);
    this.#handle = handle;
    const parts = tailParts(tail, header.ids, header.filterWords);
    this.#directory = parts;
    this.filter = idFilterOf(parts.filterBits);
    this.bytes = tail.byteLength;
    this.pages = pagesOf(header.ids);
  }

  get fd(): number {
    return this.#handle.fd;
  }

  get starts(): Uint32Array {
    return this.#directory.starts;
  }

  pagesFor(words: Uint32Array, at: number): { first: number; last: number } {
    const key = sortKey((words[at] ?? 0) & SHARD_MASK, words[at + 1] ?? 0);
    const { firstKeys } = this.#directory;
    // Slots with the key may begin on the page before the first page that begins with it.
    const first = Math.max(0, lowerBound(firstKeys, key) - 1);
    let last = first;
    while (last + 1 < firstKeys.length && (firstKeys[last + 1] ?? 0) <= key) last += 1;
    return { first, last };
  }

  async readPages(first: number, into: Buffer): Promise<number> {
    const count = Math.min(this.pages - first, into.length / PAGE_BYTES);
    const bytes = into.subarray(0, count * PAGE_BYTES);
    await readInto(this.#handle, pageOffset(first), bytes);
    for (let at = 0; at < bytes.length; at += PAGE_BYTES) requireWhole(bytes.subarray(at, at + PAGE_BYTES));
    return count;
  }

  slotsIn(page: number, words: Uint32Array, at: number): { from: number; to: number } {
    const shard = (words[at] ?? 0) & SHARD_MASK;
    const before = page * SLOTS_PER_PAGE;
    const from = Math.max(before, this.starts[shard] ?? 0);
    const to = Math.min(before + SLOTS_PER_PAGE, this.starts[shard + 1] ?? 0);
    return { from: from - before, to: Math.max(from, to) - before };
  }

  hold(): void {
    this.#holds += 1;
  }

  unhold(): void {
    this.#holds -= 1;
    if (this.#holds === 0) void this.#handle.close();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.unhold();
  }
}

/** The first index with this key or a greater one. */
function lowerBound(keys: Float64Array, key: number): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? 0) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

export async function removeRunFile(directory: string, name: string): Promise<void> {
  await rm(join(directory, name), { force: true });
}
