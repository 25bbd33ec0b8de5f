/** Limits the rate of a backup, so that the disk has time for the service. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Throttle } from '../../backups/repository.ts';

/** The burst after a pause, in seconds of the rate. */
const BURST_SECONDS = 0.1;

/** `nowMs` is any monotonic clock. */
export function createThrottle(
  bytesPerSecond: number,
  wait: (ms: number) => Promise<unknown> = pause,
  nowMs: () => number = () => performance.now(),
): Throttle {
  /** When all bytes so far would be done at the rate. */
  let paidMs = nowMs();
  return async (bytes) => {
    paidMs = Math.max(paidMs, nowMs() - BURST_SECONDS * 1_000) + (bytes / bytesPerSecond) * 1_000;
    const ahead = paidMs - nowMs();
    if (ahead > 0) await wait(ahead);
  };
}
