/**
 * Requests before jobs: long runs of jobs pause between their parts while a request waits for an answer.
 *
 * The pause is limited, so that a run continues however many requests there are.
 */
import { createFigures } from './figures.ts';

/** A part of a run takes some hundred milliseconds, so it keeps most of its speed. */
const WAIT_MS_MAX = 100;

export interface RightOfWay {
  /** Runs the work of a request that a caller waits for. */
  during<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Resolves when no such request is running, or after the limit. */
  giveWay(): Promise<void>;
}

export function createRightOfWay(waitMsMax: number = WAIT_MS_MAX): RightOfWay {
  const figures = createFigures('right of way', 'requests', ['runs', 'waiting']);
  let underWay = 0;
  let waiting: (() => void)[] = [];
  const end = () => {
    underWay -= 1;
    if (underWay > 0) return;
    const free = waiting;
    waiting = [];
    for (const goOn of free) goOn();
  };
  return {
    async during(work) {
      underWay += 1;
      try {
        return await work();
      } finally {
        end();
      }
    },
    async giveWay() {
      if (underWay === 0) return;
      figures.add('runs');
      figures.add('waiting');
      await new Promise<void>((goOn) => {
        const timer = setTimeout(goOn, waitMsMax);
        waiting.push(() => {
          clearTimeout(timer);
          goOn();
        });
      });
      figures.add('waiting', -1);
    },
  };
}
