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
  /** Runs at once, and once more if a run is in progress. Does nothing before the start. */
  soon(): void;
  figures(): Readonly<Record<'runs' | 'failures', number>>;
  /** Cancels the next run and waits for the one in progress. */
  close(): Promise<void>;
}

/** For work whose failure is harmless: the next run makes up for it. */
export function ignoreFailure(): void {}

/** The poll waits for its `start`. */
export function createPoll({ name, intervalMs, work, onFailure }: PollOptions): Poll {
  const state = { isStarted: false, isClosed: false, isRunning: false, isWanted: false, isFailing: false };
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();
  const figures = createFigures('poll', name, ['runs', 'failures']);

  async function run(): Promise<void> {
    const begun = performance.now();
    figures.add('runs');
    state.isWanted = false;
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
    if (state.isWanted) wait(0);
    else wait(typeof intervalMs === 'number' ? intervalMs : intervalMs(ended));
  }

  function wait(ms: number): void {
    if (state.isClosed) return;
    clearTimeout(timer);
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
    soon() {
      if (state.isRunning) state.isWanted = true;
      else if (state.isStarted) wait(0);
    },
    figures: figures.read,
    async close() {
      state.isClosed = true;
      clearTimeout(timer);
      await last;
    },
  };
}
