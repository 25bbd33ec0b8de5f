/** `tallyhouse backfill` as an operator runs it, in a separate process. */
import { afterEach } from 'vitest';
import { type Program, runProgram } from './child-process.ts';

interface Ended {
  readonly code: number | NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

const MAIN = 'src/app/cli/main.ts';
const HOOK = 'test/support/programs/signal-at-save.mjs';

export interface Backfills {
  run(env: Record<string, string>, ...args: string[]): Promise<Ended>;
  /**
   * A run that receives a signal when this number of its batches is on disk and the last of them is not recorded yet.
   * With `remove`: when this number of files is recorded as loaded.
   */
  endedAt(
    env: Record<string, string>,
    signal: NodeJS.Signals,
    moment: 'save' | 'remove',
    count: number,
    ...args: string[]
  ): Promise<Ended>;
}

/** For a file of tests: none of the processes outlives its test. */
export function createBackfills(): Backfills {
  const programs: Program[] = [];
  afterEach(async () => {
    for (const program of programs) program.child.kill('SIGKILL');
    await Promise.all(programs.splice(0).map((program) => program.ended));
  });
  const ended = async (program: Program): Promise<Ended> => {
    programs.push(program);
    const code = await program.ended;
    return { code, out: program.stdout(), err: program.stderr() };
  };
  return {
    run: (env, ...args) => ended(runProgram(MAIN, ['backfill', ...args], env)),
    endedAt: (env, signal, moment, count, ...args) =>
      ended(
        runProgram(
          MAIN,
          ['backfill', ...args],
          { ...env, SIGNAL_AT_SAVE: `${signal} ${count} ${moment}` },
          HOOK,
        ),
      ),
  };
}
