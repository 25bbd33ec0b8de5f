/**
 * Writes a run from sorted slots. The file gets its name, and becomes visible to readers, when all of it is on disk.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { assert } from '../../../core/errors.ts';
import { reachOf, SHARD_MASK, SHARDS } from '../deduplication-slots.ts';
import { createIdFilter, type IdFilter, idFilterOf } from './id-filter.ts';
import { checksumOf, openRun, type Run } from './run.ts';
import {
  encodeHeader,
  PAGE_BYTES,
  pageOffset,
  pagesOf,
  SLOTS_PER_PAGE,
  sealPage,
  sortKey,
  tailBytes,
  tailParts,
  WORDS_PER_SLOT,
} from './run-layout.ts';

/** Written together. */
const PAGES_PER_WRITE = 256;

export interface RunWriter {
  /** Adds a slot of the shard. If `isFull` is true afterwards, call `flush` before the next one. */
  add(shard: number, slots: Uint32Array, offset: number): void;
  readonly isFull: boolean;
  flush(): Promise<void>;
  /** The run of the added slots, declared to contain all ids accepted within these seconds. */
  finish(within: { readonly from: number; readonly to: number }): Promise<Run>;
  /** Removes the unfinished file. */
  discard(): Promise<void>;
}

/** `idsMax`: the maximum number of slots, for which the filter has room. */
export async function createRunWriter(directory: string, idsMax: number): Promise<RunWriter> {
  const name = `${randomUUID()}.ids`;
  const handle = await open(join(directory, `${name}.new`), 'wx', 0o600);
  return new FileWriter(directory, name, handle, idsMax);
}

class FileWriter implements RunWriter {
  readonly #directory: string;
  readonly #name: string;
  readonly #handle: FileHandle;
  readonly #idsMax: number;
  readonly #filterWords: number;
  readonly #tail: ArrayBuffer;
  readonly #parts;
  readonly #filter: IdFilter;
  readonly #bytes = Buffer.alloc(PAGES_PER_WRITE * PAGE_BYTES);
  readonly #words = new Uint32Array(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length / 4);
  #ids = 0;
  #shard = 0;
  #reach = 0;
  #written = 0;

  constructor(directory: string, name: string, handle: FileHandle, idsMax: number) {
    this.#directory = directory;
    this.#name = name;
    this.#handle = handle;
    this.#idsMax = idsMax;
    this.#filterWords = createIdFilter(idsMax).words.length;
    this.#tail = new ArrayBuffer(tailBytes(idsMax, this.#filterWords));
    this.#parts = tailParts(this.#tail, idsMax, this.#filterWords);
    this.#filter = idFilterOf(this.#parts.filterBits);
  }

  get isFull(): boolean {
    return this.#pagesBegun() - this.#written === PAGES_PER_WRITE && this.#ids % SLOTS_PER_PAGE === 0;
  }

  add(shard: number, slots: Uint32Array, offset: number): void {
    assert(this.#ids < this.#idsMax && shard >= this.#shard && !this.isFull, 'slots come as was said');
    while (this.#shard < shard) {
      this.#shard += 1;
      this.#parts.starts[this.#shard] = this.#ids;
    }
    const page = Math.floor(this.#ids / SLOTS_PER_PAGE);
    const inPage = this.#ids % SLOTS_PER_PAGE;
    const a = slots[offset] ?? 0;
    const b = slots[offset + 1] ?? 0;
    const c = slots[offset + 2] ?? 0;
    if (inPage === 0) this.#parts.firstKeys[page] = sortKey(shard, b);
    const at = ((page - this.#written) * PAGE_BYTES) / 4 + inPage * WORDS_PER_SLOT;
    this.#words[at] = a;
    this.#words[at + 1] = b;
    this.#words[at + 2] = c;
    this.#words[at + 3] = slots[offset + 3] ?? 0;
    this.#filter.add((a & ~SHARD_MASK) | shard, b, c);
    this.#reach = Math.max(this.#reach, reachOf(slots, offset));
    this.#ids += 1;
  }

  async flush(): Promise<void> {
    const pages = this.#pagesBegun() - this.#written;
    if (pages === 0) return;
    for (let page = 0; page < pages; page += 1)
      sealPage(this.#bytes.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES));
    await writeAll(this.#handle, this.#bytes.subarray(0, pages * PAGE_BYTES), pageOffset(this.#written));
    this.#bytes.fill(0);
    this.#written += pages;
  }

  async finish({ from, to }: { readonly from: number; readonly to: number }): Promise<Run> {
    await this.flush();
    for (let shard = this.#shard + 1; shard <= SHARDS; shard += 1) this.#parts.starts[shard] = this.#ids;
    const ids = this.#ids;
    const tail = this.#tail.slice(0, tailBytes(ids, this.#filterWords));
    await writeAll(this.#handle, Buffer.from(tail), pageOffset(pagesOf(ids)));
    const summary = { name: this.#name, from, to, ids };
    const header = { ...summary, reach: this.#reach, filterWords: this.#filterWords };
    await writeAll(this.#handle, encodeHeader({ ...header, tailChecksum: checksumOf(tail) }), 0);
    await this.#handle.sync();
    await this.#handle.close();
    await rename(this.#path(), join(this.#directory, this.#name));
    await syncDirectory(this.#directory);
    return await openRun(this.#directory, summary);
  }

  async discard(): Promise<void> {
    // It may be closed already.
    await this.#handle.close().catch(() => {});
    await rm(this.#path(), { force: true });
    await rm(join(this.#directory, this.#name), { force: true });
  }

  #path(): string {
    return join(this.#directory, `${this.#name}.new`);
  }

  #pagesBegun(): number {
    return pagesOf(this.#ids);
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, position + at);
    at += bytesWritten;
  }
}

/** Otherwise a power cut may lose the name of a new file. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
