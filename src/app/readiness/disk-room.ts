/**
 * How much room there is for the embedded stores. While there is too little, the service is not ready and takes no events;
 * it continues by itself when there is enough again.
 */
import { statfs } from 'node:fs/promises';
import { Refusal } from '../../core/errors.ts';
import { SECOND_MS } from '../../core/time.ts';
import { createPoll, ignoreFailure } from '../../runtime/poll.ts';

export interface DiskRoom {
  /** Looks now. Returns the missing room, in one sentence; null where there is enough, and where nothing is known. */
  shortage(): Promise<string | null>;
  /** Refuses as `unavailable` where the last look, at most about a second ago, has found too little. */
  require(): void;
  close(): void;
}

/** With less, inserts and transactions may fail at once; PostgreSQL needs 16 MB in one piece. */
const FREE_BYTES_MIN = 64 * 1024 * 1024;
const MB = 1024 * 1024;

/** The room of a service whose stores are servers is theirs to watch. */
export const UNLIMITED_ROOM: DiskRoom = { shortage: async () => null, require() {}, close() {} };

export function watchDiskRoom(directory: string): DiskRoom {
  let known: string | null = null;
  const shortage = async () => {
    const { bavail, bsize } = await statfs(directory);
    known = shortageOf(bavail * bsize);
    return known;
  };
  const looking = createPoll({
    name: 'disk room',
    intervalMs: SECOND_MS,
    work: shortage,
    onFailure: ignoreFailure,
  });
  looking.start();
  return {
    shortage,
    require() {
      if (known === null) return;
      throw new Refusal('unavailable', `${known}; nothing was stored, send the events again later`);
    },
    close: () => void looking.close(),
  };
}

/** Rounded so that what is missing is never said to be less. */
function shortageOf(freeBytes: number): string | null {
  if (freeBytes >= FREE_BYTES_MIN) return null;
  const free = Math.floor(freeBytes / MB);
  const needed = FREE_BYTES_MIN / MB;
  return `the disk of DATA_DIR is full: ${free} MB are free, ${needed} MB are needed, ${needed - free} MB are missing`;
}
