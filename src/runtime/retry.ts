/** Attempts of work that may fail for a moment, and the pauses between them. */
import { setTimeout as pause } from 'node:timers/promises';
import { createFigures } from './figures.ts';

export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * The pause after so many failures in a row, 1 at least: doubles from the first one up to the longest. With `random`, a
 * source of numbers from 0 to 1, it is between half and the whole, so that callers that failed together spread.
 */
export function backoffMs(failures: number, { firstMs, maxMs }: Backoff, random = () => 1): number {
  return (Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 20)) * (1 + random())) / 2;
}

export interface RetryOptions<Failure> {
  /** In the list of mechanisms. */
  readonly name: string;
  /** Whether another attempt may succeed. Any other failure is thrown at once. */
  readonly isTransient: ((error: unknown) => error is Failure) | ((error: unknown) => boolean);
  /** Unlimited unless given: then `isTransient` or `signal` ends the attempts. */
  readonly attemptsMax?: number;
  /** After so many failures in a row. None unless given. */
  pauseMs?(failures: number, error: Failure): number;
  /** The error after the last attempt, in place of its failure. */
  exhausted?(error: Failure): Error;
  /** Its abort ends the pause; the attempt that follows is the last one. */
  readonly signal?: AbortSignal;
}

/** The result of the first attempt that succeeds. */
export async function retry<Result, Failure = unknown>(
  work: () => Promise<Result>,
  options: RetryOptions<Failure>,
): Promise<Result> {
  const { name, attemptsMax = Number.POSITIVE_INFINITY, pauseMs, exhausted, signal } = options;
  const isTransient = (error: unknown): error is Failure => options.isTransient(error);
  const figures = createFigures('retry', name, ['runs', 'failures', 'retries']);
  figures.add('runs');
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      figures.add('failures');
      if (!isTransient(error) || signal?.aborted === true) throw error;
      if (failures >= attemptsMax) throw exhausted?.(error) ?? error;
      await endOfPause(pauseMs?.(failures, error) ?? 0, signal);
      figures.add('retries');
    }
  }
}

async function endOfPause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms <= 0) return;
  await pause(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}
