/** The paths of the log's files, and how they become durable. */
import { readFileSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../core/failures.ts';

/** The log cannot be used. The message is one line for the operator. */
export class EventLogError extends Error {
  override readonly name = 'EventLogError';
}

export interface LogPaths {
  readonly dataDir: string;
  /** The directory of the segments: files with records. */
  readonly directory: string;
  /** The position file, beside the directory, which may be lost as a whole. */
  readonly position: string;
  /** The log of versions before this format. */
  readonly older: string;
}

export function logPaths(dataDir: string): LogPaths {
  const directory = join(dataDir, 'event-log');
  return {
    dataDir,
    directory,
    position: join(dataDir, 'event-log.position'),
    older: join(directory, 'data.mdb'),
  };
}

const SEGMENT_NAME = /^\d{16}\.log$/;

/** Named after its first record, so that names sort like records. */
export function segmentName(firstNumber: number): string {
  return `${String(firstNumber).padStart(16, '0')}.log`;
}

/** In their order; empty if there is no directory. */
export async function segmentPaths(directory: string): Promise<string[]> {
  try {
    const names = await readdir(directory);
    return names
      .filter((name) => SEGMENT_NAME.test(name))
      .sort()
      .map((name) => join(directory, name));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

const UNREADABLE = ['EIO', 'EISDIR', 'ERR_FS_FILE_TOO_LARGE'];

/** A file that the disk cannot read counts as empty. */
export function readSegment(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (UNREADABLE.includes(codeOf(error) ?? '')) return Buffer.alloc(0);
    throw error;
  }
}

/** Makes names of new files in it survive a power cut. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  await handle.sync().finally(() => handle.close());
}
