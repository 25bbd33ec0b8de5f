/** Repeats work in the background. Runs never overlap, and the timer never keeps the process alive. */

export interface PollOptions {
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
  figures(): PollFigures;
  /** Cancels the next run and waits for the one in progress. */
  close(): Promise<void>;
}

interface PollFigures {
  readonly runs: number;
  readonly failures: number;
}

/** For work whose failure is harmless: the next run makes up for it. */
export function ignoreFailure(): void {}

/** The poll waits for its `start`. */
export function createPoll({ intervalMs, work, onFailure }: PollOptions): Poll {
  const state = { isStarted: false, isClosed: false, isRunning: false, isWanted: false, isFailing: false };
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();
  let runs = 0;
  let failures = 0;

  async function run(): Promise<void> {
    const begun = performance.now();
    runs += 1;
    state.isWanted = false;
    try {
      await work();
      state.isFailing = false;
    } catch (error) {
      failures += 1;
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
    figures: () => ({ runs, failures }),
    async close() {
      state.isClosed = true;
      clearTimeout(timer);
      await last;
    },
  };
}
