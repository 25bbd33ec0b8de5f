/** Work that is repeated in the background. */
import type { Logger } from 'pino';

/** Repeats `work`, `intervalMs` after each end. Of failures in a row, the first is logged. */
export function createPoll(intervalMs: number, work: () => Promise<unknown>, log: Logger) {
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<unknown> = Promise.resolve();
  let closed = false;
  let isFailing = false;

  async function tried(): Promise<void> {
    try {
      await work();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.error({ err: error }, 'jobs cannot run now: they will be tried again');
      isFailing = true;
    }
  }

  function wait(): void {
    timer = setTimeout(() => {
      working = tried().finally(() => {
        if (!closed) wait();
      });
    }, intervalMs);
    timer.unref();
  }

  return {
    start: wait,
    async close() {
      closed = true;
      clearTimeout(timer);
      await working;
    },
  };
}
