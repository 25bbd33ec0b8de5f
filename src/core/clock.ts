/** The source of the current time, passed as a dependency so that tests and the sandbox can move it. */
import type { Instant } from './time.ts';

export interface Clock {
  now(): Instant;
}

export const systemClock: Clock = { now: () => Date.now() };
