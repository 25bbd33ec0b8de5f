/** Waits at startup that may have no limit: a long one is reported to the operator. */
import { SECOND_MS } from '../core/time.ts';

export interface ReportedWait {
  /** Continues the sentence `the start waits for …`. */
  readonly what: string;
  say(line: string): void;
  /** Until the first line: 10 s unless given. */
  readonly afterMs?: number | undefined;
}

export const REPORTED_AFTER_MS = 10 * SECOND_MS;
/** Between two lines. */
const REPORTED_EVERY_MS = 60 * SECOND_MS;

/** The result of `work`. A line after 10 s and then every minute names it until it ends. */
export async function reportedWait<Result>(
  { what, say, afterMs = REPORTED_AFTER_MS }: ReportedWait,
  work: () => Promise<Result>,
): Promise<Result> {
  const startedMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const sayIn = (ms: number) => {
    timer = setTimeout(() => {
      say(
        `the start waits for ${what}, for ${Math.round((performance.now() - startedMs) / SECOND_MS)} s now`,
      );
      sayIn(REPORTED_EVERY_MS);
    }, ms);
    timer.unref();
  };
  sayIn(afterMs);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}
