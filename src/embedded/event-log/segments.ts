/**
 * The files of the log: records are appended to the last one, and files are removed, or cut to nothing, when ClickHouse
 * has all of their records. Nothing is mapped into memory: a file that was cut short is only shorter when it is read.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sizeOf, writeWhole } from '../write-whole.ts';
import { segmentName, syncDirectory } from './files.ts';
import { type LogRecord, recordHeader } from './record-format.ts';

/** Then the next record begins another file. */
const SEGMENT_BYTES_MAX = 8 * 1024 * 1024;
/** A file is not written for longer, so that it can be removed: what it holds may have to be erased. */
const SEGMENT_AGE_MS_MAX = 60_000;

/** A file that is not written any more, and its last record. */
export interface ClosedSegment {
  readonly path: string;
  readonly last: number;
}

interface OpenSegment {
  readonly path: string;
  readonly file: FileHandle;
  /** Of whole records. */
  bytes: number;
  /** 0 while it has none. */
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
   * Resolves when the record is on disk and `confirm` has resolved. After a failure of either nothing of the record
   * counts, and the next one has another file.
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

  /** Removes what ClickHouse has; the file that is being written is cut to nothing if it has all of it. */
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
    // A tail that cannot be cut off does not count either: the next record has the same number, in a later file.
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
    // A file with this name has no record that counts.
    this.#closed = this.#closed.filter((closed) => closed.path !== path);
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_DSYNC;
    const file = await open(path, flags, 0o600);
    this.#open = { path, file, bytes: 0, last: 0, startedAt: performance.now() };
    await syncDirectory(this.#directory);
    return this.#open;
  }
}
