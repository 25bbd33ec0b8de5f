/** A rate limit: a burst, and then once per interval. */
export interface Pace {
  /** Takes a place, and returns its delay in milliseconds; 0: now. */
  take(): number;
}

export function createPace(
  atOnce: number,
  intervalMs: number,
  elapsedMs: () => number = () => performance.now(),
): Pace {
  /** When the whole burst is available again. */
  let freeAt = Number.NEGATIVE_INFINITY;
  return {
    take() {
      const now = elapsedMs();
      freeAt = Math.max(freeAt, now) + intervalMs;
      return Math.max(0, Math.ceil(freeAt - atOnce * intervalMs - now));
    },
  };
}
