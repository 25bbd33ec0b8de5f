/** Serializes work: each begins when all that was given before has ended, in success or failure. */
interface OneAfterAnother {
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Resolves when all work that was given until now has ended. */
  last(): Promise<unknown>;
}

export function oneAfterAnother(): OneAfterAnother {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(work) {
      const run = last.then(work);
      last = run.catch(() => undefined);
      return run;
    },
    last: () => last,
  };
}
