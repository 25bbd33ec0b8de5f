/** Work that begins when all work that was given earlier has ended, in success or failure. */

/** The input of the work is prepared ahead of it. */
export type InTurn = <Made, Result>(
  ahead: () => Promise<Made>,
  work: (made: Made) => Promise<Result>,
) => Promise<Result>;

/**
 * Does work in turn. Prepared input may take memory: it is prepared for one at a time, while the work before it is
 * done.
 */
export function inTurns(): InTurn {
  let begun: Promise<unknown> = Promise.resolve();
  let ended: Promise<unknown> = Promise.resolve();
  return (ahead, work) => {
    const made = begun.then(ahead);
    // Its failure is that of the work, whose turn may come later.
    made.catch(ignore);
    const ready = ended.then(() => made);
    const result = ready.then(work);
    begun = ready.then(ignore, ignore);
    ended = result.then(ignore, ignore);
    return result;
  };
}

/** For work that nobody else does meanwhile. */
export const atOnce: InTurn = async (ahead, work) => work(await ahead());

/** Keeps nothing of its input. */
function ignore(): void {}
