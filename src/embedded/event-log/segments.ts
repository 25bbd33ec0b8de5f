/**
 * The files of the log: records are appended to the last one, and files are removed, or truncated, when ClickHouse has
 * all of their records. Nothing is mapped into memory: a truncated file is only shorter when it is read.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sizeOf, writeWhole } from '../write-whole.ts';
import { segmentName, syncDirectory } from './files.ts';
import { type LogRecord, recordHeader } from './record-format.ts';

/** The next record then begins another file. */
const SEGMENT_BYTES_MAX = 8 * 1024 * 1024;
/** The maximum age of the current file, so that it can be removed: its contents may have to be erased. */
const SEGMENT_AGE_MS_MAX = 60_000;

/** A file that is no longer written, and its last record. */
export interface ClosedSegment {
  readonly path: string;
  readonly last: number;
}

interface OpenSegment {
  readonly path: string;
  readonly file: FileHandle;
  /** The bytes of whole records. */
  bytes: number;
  /** 0 while the file is empty. */
  last: number;
  startedAt: number;
}

export class Segments {
  readonly #directory: string;
  #closed: ClosedSegment[];
  #open: OpenSegment | null = null;

  constructor(directory: string, closed: readonly ClosedSegment[]) {
    this.#directory = directory;
    this.#closed = [...closed];
  }

  /**
   * Resolves when the record is on disk and `confirm` has resolved. If either fails the record does not count, and the
   * next one has another file.
   */
  async append(record: LogRecord, confirm: () => Promise<void>): Promise<void> {
    const segment = await this.#writable(record.number);
    const parts = [recordHeader(record), record.rows];
    try {
      await writeWhole(segment.file, parts, segment.bytes);
      await confirm();
    } catch (error) {
      await this.#endAtWholeRecords(segment);
      throw error;
    }
    segment.bytes += sizeOf(parts);
    segment.last = record.number;
  }

  /** Removes files whose records ClickHouse has; the current file is truncated if it has all of them. */
  async dropUpTo(stored: number): Promise<void> {
    const done = this.#closed.filter(({ last }) => last <= stored);
    this.#closed = this.#closed.filter(({ last }) => last > stored);
    for (const { path } of done) await rm(path, { force: true, recursive: true });
    const segment = this.#open;
    if (segment === null || segment.bytes === 0 || segment.last > stored) return;
    await segment.file.truncate(0);
    segment.bytes = 0;
  }

  /** All files, in the order of their records. */
  paths(): string[] {
    const paths = this.#closed.map(({ path }) => path);
    return this.#open === null ? paths : [...paths, this.#open.path];
  }

  async close(): Promise<void> {
    await this.#open?.file.close();
    this.#open = null;
  }

  async #endAtWholeRecords(segment: OpenSegment): Promise<void> {
    this.#open = null;
    this.#closed.push({ path: segment.path, last: segment.last });
    // A tail that cannot be truncated does not count either: the next record has the same number, in a later file.
    await segment.file.truncate(segment.bytes).catch(() => {});
    await segment.file.close().catch(() => {});
  }

  async #writable(number: number): Promise<OpenSegment> {
    const segment = this.#open;
    if (segment !== null) {
      if (segment.bytes === 0) segment.startedAt = performance.now();
      const isYoung = performance.now() - segment.startedAt < SEGMENT_AGE_MS_MAX;
      if (segment.bytes === 0 || (segment.bytes < SEGMENT_BYTES_MAX && isYoung)) return segment;
      this.#open = null;
      this.#closed.push({ path: segment.path, last: segment.last });
      await segment.file.close();
    }
    const path = join(this.#directory, segmentName(number));
    // A file with this name has no valid record.
    this.#closed = this.#closed.filter((closed) => closed.path !== path);
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_DSYNC;
    const file = await open(path, flags, 0o600);
    this.#open = { path, file, bytes: 0, last: 0, startedAt: performance.now() };
    await syncDirectory(this.#directory);
    return this.#open;
  }
}
