/**
 * The disk space of the embedded stores. While it is too low, the service is not ready and accepts no events; it
 * recovers automatically.
 */
import { statfs } from 'node:fs/promises';
import { Refusal } from '../../core/errors.ts';
import { SECOND_MS } from '../../core/time.ts';
import { createPoll, ignoreFailure } from '../../runtime/poll.ts';

export interface DiskRoom {
  /** Checks now. Returns the missing space, in one sentence; null if there is enough, or if it is unknown. */
  shortage(): Promise<string | null>;
  /** Refuses as `unavailable` if the last check, at most about a second ago, found too little. */
  require(): void;
  close(): void;
}

/** With less, inserts and transactions may fail at once; PostgreSQL needs 16 MB in one piece. */
const FREE_BYTES_MIN = 64 * 1024 * 1024;
const MB = 1024 * 1024;

/** The disk space of servers is monitored by their operators. */
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

/** Rounded up, so that the missing space is never understated. */
function shortageOf(freeBytes: number): string | null {
  if (freeBytes >= FREE_BYTES_MIN) return null;
  const free = Math.floor(freeBytes / MB);
  const needed = FREE_BYTES_MIN / MB;
  return `the disk of DATA_DIR is full: ${free} MB are free, ${needed} MB are needed, ${needed - free} MB are missing`;
}
