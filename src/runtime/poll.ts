/** Repeats work in the background. Runs never overlap, and the timer never keeps the process alive. */
import { createFigures } from './figures.ts';

export interface PollOptions {
  /** In the list of mechanisms. */
  readonly name: string;
  /** From the end of a run to the start of the next one; a function is called after each run. */
  readonly intervalMs: number | ((last: PollRun) => number);
  work(): unknown;
  /** Called with the first of consecutive failures. Polling continues. */
  onFailure(error: unknown): void;
}

/** A run that has ended. */
interface PollRun {
  readonly tookMs: number;
  readonly hasFailed: boolean;
}

export interface Poll {
  /** Begins with a wait, or with `{ now: true }` with a run. */
  start(options?: { readonly now: boolean }): void;
  /**
   * Runs after this time at the latest, at once unless given. If a run is in progress, another one follows it. Does
   * nothing before the start.
   */
  soon(withinMs?: number): void;
  figures(): Readonly<Record<'runs' | 'failures', number>>;
  /** Cancels the next run and waits for the one in progress. */
  close(): Promise<void>;
}

/** For work whose failure is harmless: the next run makes up for it. */
export function ignoreFailure(): void {}

/** The poll waits for its `start`. */
export function createPoll({ name, intervalMs, work, onFailure }: PollOptions): Poll {
  const state = { isStarted: false, isClosed: false, isRunning: false, isFailing: false };
  /** How long to wait after the run in progress at most. */
  let wantedWithinMs = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let nextAt = Number.POSITIVE_INFINITY;
  let last: Promise<void> = Promise.resolve();
  const figures = createFigures('poll', name, ['runs', 'failures']);

  async function run(): Promise<void> {
    const begun = performance.now();
    figures.add('runs');
    wantedWithinMs = Number.POSITIVE_INFINITY;
    try {
      await work();
      state.isFailing = false;
    } catch (error) {
      figures.add('failures');
      if (!state.isFailing) onFailure(error);
      state.isFailing = true;
    }
    waitAfter({ tookMs: performance.now() - begun, hasFailed: state.isFailing });
  }

  function waitAfter(ended: PollRun): void {
    state.isRunning = false;
    wait(Math.min(wantedWithinMs, typeof intervalMs === 'number' ? intervalMs : intervalMs(ended)));
  }

  function wait(ms: number): void {
    if (state.isClosed) return;
    clearTimeout(timer);
    nextAt = performance.now() + ms;
    timer = setTimeout(() => {
      state.isRunning = true;
      last = run();
    }, ms).unref();
  }

  return {
    start(options) {
      state.isStarted = true;
      if (options?.now === true) wait(0);
      else waitAfter({ tookMs: 0, hasFailed: false });
    },
    soon(withinMs = 0) {
      if (state.isRunning) wantedWithinMs = Math.min(wantedWithinMs, withinMs);
      else if (state.isStarted && performance.now() + withinMs < nextAt) wait(withinMs);
    },
    figures: figures.read,
    async close() {
      state.isClosed = true;
      clearTimeout(timer);
      await last;
    },
  };
}
