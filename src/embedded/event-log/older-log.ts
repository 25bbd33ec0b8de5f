/**
 * Reads the log of earlier versions: an LMDB file, from which the values of the main tree are read, in the order of
 * their keys. Every number in it is validated before it is used, so damage is detected, and nothing is mapped into
 * memory.
 *
 * The format (LMDB, data version 2): pages with a header of 24 bytes; the first two are metas, of which the one with
 * the higher transaction is valid; branch pages refer to pages, leaf pages hold values or refer to pages that do.
 */

/** The values that could be read. */
export interface OlderLog {
  readonly values: readonly Buffer[];
  readonly isWhole: boolean;
}

const HEADER_BYTES = 24;
const FLAGS_AT = 18;
const LOWER_AT = 20;
const OVERFLOW_PAGES_AT = 20;
const BRANCH = 0x01;
const LEAF = 0x02;
const OVERFLOW = 0x04;
const META = 0x08;

const MAGIC = 0xbe_ef_c0_de;
const DATA_VERSION = 2;
const META_MAGIC_AT = HEADER_BYTES;
const META_VERSION_AT = HEADER_BYTES + 4;
/** Two tree descriptors, of the free pages and of the values, 48 bytes each. */
const META_TREES_AT = HEADER_BYTES + 24;
const TREE_BYTES = 48;
const TREE_ENTRIES_AT = 32;
const TREE_ROOT_AT = 40;
const META_TRANSACTION_AT = META_TREES_AT + 2 * TREE_BYTES + 8;
const META_BYTES = META_TRANSACTION_AT + 8;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;

const NODE_BYTES = 8;
/** The value is on separate pages. */
const NODE_IS_LARGE = 0x01;
/** Deeper than any tree that fits on a disk. */
const DEPTH_MAX = 32;

class Damage extends Error {}

export function readOlderLog(file: Buffer): OlderLog {
  const values: Buffer[] = [];
  let isWhole = true;
  try {
    const tree = newestTree(file);
    if (tree.root !== null) {
      isWhole = readPages(new Pages(file, tree.pageBytes), tree.root, values);
      if (BigInt(values.length) !== tree.entries) isWhole = false;
    }
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    isWhole = false;
  }
  return { values, isWhole };
}

interface Tree {
  readonly pageBytes: number;
  readonly entries: bigint;
  readonly root: number | null;
}

function newestTree(file: Buffer): Tree {
  if (file.length < 2 * META_BYTES) throw new Damage();
  const first = readMeta(file, 0);
  // If the first is damaged, the page size is unknown and the usual one is assumed.
  const second = readMeta(file, first?.pageBytes ?? 4096);
  const [newest] = [first, second]
    .filter((meta) => meta !== null)
    .sort((a, b) => (a.transaction > b.transaction ? -1 : 1));
  if (newest === undefined || first === null || second === null) throw new Damage();
  return newest;
}

function readMeta(file: Buffer, at: number): (Tree & { readonly transaction: bigint }) | null {
  if (at + META_BYTES > file.length) return null;
  const isMeta = (file.readUInt16LE(at + FLAGS_AT) & META) !== 0;
  const isOurs = file.readUInt32LE(at + META_MAGIC_AT) === MAGIC;
  const isVersion = (file.readUInt32LE(at + META_VERSION_AT) & 0xffff) === DATA_VERSION;
  const pageBytes = file.readUInt32LE(at + META_TREES_AT);
  const isSize = pageBytes >= 512 && pageBytes <= 65_536 && (pageBytes & (pageBytes - 1)) === 0;
  if (!isMeta || !isOurs || !isVersion || !isSize) return null;
  const values = at + META_TREES_AT + TREE_BYTES;
  const root = file.readBigUInt64LE(values + TREE_ROOT_AT);
  return {
    pageBytes,
    entries: file.readBigUInt64LE(values + TREE_ENTRIES_AT),
    root: root === NO_PAGE ? null : Number(root),
    transaction: file.readBigUInt64LE(at + META_TRANSACTION_AT),
  };
}

class Pages {
  readonly #file: Buffer;
  readonly #pageBytes: number;
  /** Every page has one place in the tree, so a cycle ends. */
  readonly #seen = new Set<number>();

  constructor(file: Buffer, pageBytes: number) {
    this.#file = file;
    this.#pageBytes = pageBytes;
  }

  page(number: number, kinds: number): { readonly bytes: Buffer; readonly flags: number } {
    const at = number * this.#pageBytes;
    if (this.#seen.has(number) || !(at + this.#pageBytes <= this.#file.length)) throw new Damage();
    this.#seen.add(number);
    const bytes = this.#file.subarray(at, at + this.#pageBytes);
    const flags = bytes.readUInt16LE(FLAGS_AT);
    if (bytes.readBigUInt64LE(0) !== BigInt(number) || (flags & kinds) === 0) throw new Damage();
    return { bytes, flags };
  }

  /** A value on separate, consecutive pages. */
  large(number: number, length: number): Buffer {
    const { bytes } = this.page(number, OVERFLOW);
    const start = number * this.#pageBytes + HEADER_BYTES;
    const room = bytes.readUInt32LE(OVERFLOW_PAGES_AT) * this.#pageBytes - HEADER_BYTES;
    if (length > room || start + length > this.#file.length) throw new Damage();
    return this.#file.subarray(start, start + length);
  }
}

/** Whether all pages below this one could be read. Readable values are added to `values`. */
function readPages(pages: Pages, number: number, values: Buffer[], depth = 0): boolean {
  let isWhole = true;
  const tried = (work: () => boolean) => {
    try {
      if (!work()) isWhole = false;
    } catch (error) {
      if (!(error instanceof Damage)) throw error;
      isWhole = false;
    }
  };
  tried(() => {
    if (depth > DEPTH_MAX) throw new Damage();
    const { bytes, flags } = pages.page(number, BRANCH | LEAF);
    for (const at of nodesOf(bytes)) {
      tried(() => {
        if ((flags & BRANCH) !== 0) return readPages(pages, childOf(bytes, at), values, depth + 1);
        values.push(valueAt(pages, bytes, at));
        return true;
      });
    }
    return true;
  });
  return isWhole;
}

function nodesOf(page: Buffer): number[] {
  const lower = page.readUInt16LE(LOWER_AT);
  if (lower + HEADER_BYTES > page.length || lower % 2 !== 0) throw new Damage();
  return Array.from({ length: lower / 2 }, (_, index) => {
    const at = page.readUInt16LE(HEADER_BYTES + 2 * index) + HEADER_BYTES;
    return at + NODE_BYTES <= page.length ? at : Number.NaN;
  });
}

function childOf(page: Buffer, at: number): number {
  if (Number.isNaN(at)) throw new Damage();
  return page.readUInt32LE(at) + page.readUInt16LE(at + 4) * 0x1_0000_0000;
}

function valueAt(pages: Pages, page: Buffer, at: number): Buffer {
  if (Number.isNaN(at)) throw new Damage();
  const length = page.readUInt32LE(at);
  const start = at + NODE_BYTES + page.readUInt16LE(at + 6);
  const isLarge = (page.readUInt16LE(at + 4) & NODE_IS_LARGE) !== 0;
  if (start + (isLarge ? 8 : length) > page.length) throw new Damage();
  if (!isLarge) return page.subarray(start, start + length);
  return pages.large(Number(page.readBigUInt64LE(start)), length);
}
