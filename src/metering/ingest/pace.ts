/** How often something may be done: some times at once, and then once in each interval. */
export interface Pace {
  /** Takes a place, and returns in how many milliseconds it is; 0: now. */
  take(): number;
}

export function createPace(
  atOnce: number,
  intervalMs: number,
  elapsedMs: () => number = () => performance.now(),
): Pace {
  /** When all places are free again. */
  let freeAt = Number.NEGATIVE_INFINITY;
  return {
    take() {
      const now = elapsedMs();
      freeAt = Math.max(freeAt, now) + intervalMs;
      return Math.max(0, Math.ceil(freeAt - atOnce * intervalMs - now));
    },
  };
}
