/** The source of the current time, passed as a dependency so that tests and the sandbox can move it. */
import type { Instant } from './time.ts';

export interface Clock {
  now(): Instant;
}

export const systemClock: Clock = { now: () => Date.now() };

/**
 * A sandbox clock stands within these bounds, the second excluded. ClickHouse stores the times of events as seconds in
 * 32 bits, which end in 2106; events and billing periods reach ahead of the clock.
 */
export const CLOCK_BOUNDS = { start: Date.UTC(1990, 0, 1), end: Date.UTC(2100, 0, 1) };

export function isWithinClockBounds(at: Instant): boolean {
  return at >= CLOCK_BOUNDS.start && at < CLOCK_BOUNDS.end;
}
