/** Lets a number of pieces of work run at once and a number of others wait, and refuses the rest. */
import { Refusal } from './errors.ts';

export interface Places {
  /** Runs the work when a place is free; the one that has waited longest comes first. Refuses as `overloaded`. */
  take<Result>(work: () => Promise<Result>): Promise<Result>;
  figures(): { readonly running: number; readonly waiting: number };
}

export function createPlaces(
  { atOnceMax, waitingMax }: { readonly atOnceMax: number; readonly waitingMax: number },
  problem: string,
): Places {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    async take(work) {
      if (running < atOnceMax) running += 1;
      else if (waiting.length >= waitingMax) throw new Refusal('overloaded', problem);
      // Whoever ends hands over its place.
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) running -= 1;
        else next();
      }
    },
    figures: () => ({ running, waiting: waiting.length }),
  };
}
