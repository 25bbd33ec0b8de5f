/**
 * The log of acknowledged events that ClickHouse does not have yet: files to which records are appended, in
 * `DATA_DIR/event-log`, and the position beside them (docs/explanation/deduplication.md, "The log").
 *
 * When an append resolves, it is on disk and in the position. Bytes that a killed process left at the end of a file are
 * an incomplete record, or one that was never acknowledged.
 */
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventLog } from '../../metering/ingest/event-blocks.ts';
import { createSerialQueue } from '../../runtime/serial-queue.ts';
import { type LogPaths, readSegment, syncDirectory } from './files.ts';
import type { FoundLog } from './find-event-log.ts';
import { type LogPosition, PositionFile } from './position-file.ts';
import { type LogRecord, wholeRecords } from './record-format.ts';
import { type ClosedSegment, Segments } from './segments.ts';

/** The log of a data directory. */
export interface StoredEventLog extends EventLog {
  /** The current position; after a power cut it is this one or a later one. */
  position(): Promise<LogPosition>;
}

/**
 * Opens a log; one process at a time may do so. A damaged one continues with its readable records; the data of its
 * files is kept in a directory beside it.
 */
export async function openEventLog(found: FoundLog): Promise<StoredEventLog> {
  const { paths, damage, older, segments } = found;
  await mkdir(paths.directory, { recursive: true, mode: 0o700 });
  if (damage !== null) await keepAside(found);
  const log = new SegmentedLog(found);
  const isWrittenAnew = damage !== null || older.length > 0;
  if (isWrittenAnew)
    await log.carryOver([...older, ...liveRecords(pathsOf(segments), found.position.stored)]);
  await log.start();
  await rm(paths.older, { force: true });
  await rm(join(paths.directory, 'lock.mdb'), { force: true });
  return log;
}

/** Copies the files of a damaged log, for later examination. */
async function keepAside({ paths, position }: FoundLog): Promise<void> {
  const kept = join(paths.dataDir, `event-log-damaged-${position.acknowledged}`);
  await cp(paths.directory, join(kept, 'event-log'), { recursive: true });
  await cp(paths.position, join(kept, 'event-log.position')).catch(() => {});
}

/** The records that ClickHouse does not have, in their order. */
function liveRecords(paths: readonly string[], stored: number): LogRecord[] {
  const records = new Map<number, LogRecord>();
  for (const path of paths) {
    for (const record of wholeRecords(readSegment(path))) {
      // A record that could not be rolled back has the number of one in a later file.
      if (record.number > stored) records.set(record.number, record);
    }
  }
  return [...records.values()].sort((a, b) => a.number - b.number);
}

function pathsOf(segments: readonly ClosedSegment[]): string[] {
  return segments.map(({ path }) => path);
}

class SegmentedLog implements StoredEventLog {
  readonly #paths: LogPaths;
  #segments: Segments;
  #position: LogPosition;
  #positions: PositionFile | null = null;
  /** The number of rows of each record that ClickHouse does not have, in order. */
  #waiting: { readonly number: number; readonly count: number }[] = [];
  readonly #changes = createSerialQueue('event log');

  constructor({ paths, position, segments }: FoundLog) {
    this.#paths = paths;
    this.#position = position;
    this.#segments = new Segments(paths.directory, segments);
  }

  /** Appends these with new numbers. From `start` on, earlier contents do not count. */
  async carryOver(records: readonly LogRecord[]): Promise<void> {
    const { acknowledged, acknowledgedRows } = this.#position;
    this.#position = { ...this.#position, stored: acknowledged, storedRows: acknowledgedRows };
    for (const { count, rows } of records) {
      const next = this.#after(count);
      await this.#segments.append({ number: next.acknowledged, count, rows }, async () => {});
      this.#position = next;
    }
  }

  async start(): Promise<void> {
    this.#waiting = [...this.entries()].map(({ number, count }) => ({ number, count }));
    this.#positions = await PositionFile.open(this.#paths.position, this.#position);
    await syncDirectory(this.#paths.dataDir);
    await this.#segments.dropUpTo(this.#position.stored);
  }

  append(rows: Buffer, count: number): Promise<number> {
    return this.#inTurn(async (positions) => {
      const next = this.#after(count);
      const number = next.acknowledged;
      await this.#segments.append({ number, count, rows }, () => positions.write(next));
      this.#position = next;
      this.#waiting.push({ number, count });
      return number;
    });
  }

  entries(): Iterable<LogRecord> {
    return liveRecords(this.#segments.paths(), this.#position.stored);
  }

  async removeUpTo(number: number): Promise<void> {
    await this.#inTurn(async (positions) => {
      if (number <= this.#position.stored) return;
      const waiting = this.#waiting.filter((record) => record.number > number);
      const { acknowledgedRows } = this.#position;
      const storedRows = acknowledgedRows - waiting.reduce((sum, { count }) => sum + count, 0);
      const next = { ...this.#position, stored: number, storedRows };
      await positions.write(next);
      this.#position = next;
      this.#waiting = waiting;
    });
    // Otherwise a power cut could leave an old position, and the log would seem to lack the records dropped here.
    const { stored } = await this.position();
    await this.#inTurn(() => this.#segments.dropUpTo(stored));
  }

  async position(): Promise<LogPosition> {
    const position = this.#position;
    await this.#positions?.sync();
    return position;
  }

  async close(): Promise<void> {
    await this.#inTurn(async (positions) => {
      await this.#segments.close();
      await positions.sync();
      await positions.close();
      this.#positions = null;
    });
  }

  #after(count: number): LogPosition {
    const { acknowledged, acknowledgedRows } = this.#position;
    const next = { acknowledged: acknowledged + 1, acknowledgedRows: acknowledgedRows + count };
    return { ...this.#position, ...next };
  }

  /** One change of the files at a time. */
  async #inTurn<T>(work: (positions: PositionFile) => Promise<T>): Promise<T> {
    return await this.#changes.run(async () => {
      if (this.#positions === null) throw new Error('the log of events is closed');
      return await work(this.#positions);
    });
  }
}
