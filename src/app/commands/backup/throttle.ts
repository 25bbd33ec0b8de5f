/** Keeps a backup below a rate, so that the disk has time for the service. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Throttle } from '../../backups/repository.ts';

/** So much may be done at once after a pause, in seconds of the rate. */
const BURST_SECONDS = 0.1;

/** `nowMs` is any clock that only moves forward. */
export function createThrottle(
  bytesPerSecond: number,
  wait: (ms: number) => Promise<unknown> = pause,
  nowMs: () => number = () => performance.now(),
): Throttle {
  /** When everything so far would be done at the rate. */
  let paidMs = nowMs();
  return async (bytes) => {
    paidMs = Math.max(paidMs, nowMs() - BURST_SECONDS * 1_000) + (bytes / bytesPerSecond) * 1_000;
    const ahead = paidMs - nowMs();
    if (ahead > 0) await wait(ahead);
  };
}
