/** Repeats work in the background. Runs never overlap, and a timer never keeps the process alive. */

export interface PollOptions {
  /** From the end of a run to the start of the next one. */
  readonly intervalMs: number;
  work(): unknown;
  /** Called with the first of failures in a row. The next run still takes place. */
  onFailure(error: unknown): void;
}

export interface Poll {
  /** Begins with a wait, or with `{ now: true }` with a run. */
  start(options?: { readonly now: boolean }): void;
  figures(): PollFigures;
  /** Cancels the next run and waits for the one in progress. */
  close(): Promise<void>;
}

interface PollFigures {
  readonly runs: number;
  readonly failures: number;
}

/** For work whose failure changes nothing: the next run does what this one could not. */
export function ignoreFailure(): void {}

/** The poll waits for its `start`. */
export function createPoll({ intervalMs, work, onFailure }: PollOptions): Poll {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isClosed = false;
  let isFailing = false;
  let runs = 0;
  let failures = 0;

  async function run(): Promise<void> {
    runs += 1;
    try {
      await work();
      isFailing = false;
    } catch (error) {
      failures += 1;
      if (!isFailing) onFailure(error);
      isFailing = true;
    }
    wait(intervalMs);
  }

  function wait(ms: number): void {
    if (isClosed) return;
    timer = setTimeout(() => {
      running = run();
    }, ms).unref();
  }

  return {
    start: (options) => wait(options?.now === true ? 0 : intervalMs),
    figures: () => ({ runs, failures }),
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
