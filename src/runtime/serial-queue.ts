/** Runs one piece of work at a time, in the order of the calls. */

export interface SerialQueue {
  /** Runs `work` after all earlier work has ended, in success or failure. Settles as `work` does. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Resolves when all work queued so far has ended; never rejects. */
  idle(): Promise<void>;
  figures(): SerialQueueFigures;
}

interface SerialQueueFigures {
  /** The number of pieces of work that run or wait. */
  readonly pending: number;
}

export function createSerialQueue(): SerialQueue {
  let last: Promise<void> = Promise.resolve();
  let pending = 0;
  const end = () => {
    pending -= 1;
  };
  return {
    run(work) {
      pending += 1;
      const result = last.then(work);
      last = result.then(end, end);
      return result;
    },
    idle: () => last,
    figures: () => ({ pending }),
  };
}
