/** Work that begins when all earlier work has ended, in success or failure. */

/** The input of the work is prepared ahead of it. */
export type InTurn = <Made, Result>(
  ahead: () => Promise<Made>,
  work: (made: Made) => Promise<Result>,
) => Promise<Result>;

/**
 * Runs work in turn. Prepared input may take memory: one input at a time is prepared, while the work before it runs.
 */
export function inTurns(): InTurn {
  let begun: Promise<unknown> = Promise.resolve();
  let ended: Promise<unknown> = Promise.resolve();
  return (ahead, work) => {
    const made = begun.then(ahead);
    // Its failure is reported by the work, whose turn may be later.
    made.catch(ignore);
    const ready = ended.then(() => made);
    const result = ready.then(work);
    begun = ready.then(ignore, ignore);
    ended = result.then(ignore, ignore);
    return result;
  };
}

/** For work without concurrent work. */
export const atOnce: InTurn = async (ahead, work) => work(await ahead());

/** Does not retain its input. */
function ignore(): void {}
