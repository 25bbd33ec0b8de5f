/** Runs one piece of work at a time, in the order of the calls. */
import { Refusal } from '../core/errors.ts';
import { createFigures } from './figures.ts';

export interface SerialQueue {
  /**
   * Runs `work` after all earlier work has ended, in success or failure. Settles as `work` does. After `close` it
   * refuses (`unavailable`).
   */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Resolves when all work queued so far has ended; never rejects. */
  idle(): Promise<void>;
  /** Takes nothing further, and waits for what was given. */
  close(): Promise<void>;
  /** `waiting`: work that runs or waits. */
  figures(): Readonly<Record<'runs' | 'failures' | 'waiting', number>>;
}

/** `name`: in the list of mechanisms. A queue of one request has none. */
export function createSerialQueue(name?: string): SerialQueue {
  const figures = createFigures('queue', name, ['runs', 'failures', 'waiting']);
  let last: Promise<void> = Promise.resolve();
  let isClosed = false;
  const end = () => figures.add('waiting', -1);
  const fail = () => {
    figures.add('failures');
    end();
  };
  return {
    run(work) {
      if (isClosed) return Promise.reject(new Refusal('unavailable', 'the service is stopping'));
      figures.add('runs');
      figures.add('waiting');
      const result = last.then(work);
      last = result.then(end, fail);
      return result;
    },
    idle: () => last,
    close() {
      isClosed = true;
      return last;
    },
    figures: figures.read,
  };
}
