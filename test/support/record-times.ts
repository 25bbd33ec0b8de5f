/**
 * Loaded before each file of the tests. Where `.ci/test.mjs` names a file for it, the computing of each file of the
 * tests is written there: a line of JSON each, in seconds of one core. Other work on the machine changes it little.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { afterAll, expect, inject } from 'vitest';

const TICKS_OF_SECOND = 100;

/** The CPU seconds of this process: its threads, among them those of ClickHouse. */
function ownSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/**
 * The CPU seconds of programs that this process has started and that have ended, with theirs; 0 where the system does
 * not tell.
 */
function startedSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / TICKS_OF_SECOND;
  } catch {
    return 0;
  }
}

const path = process.env.TEST_TIMES_FILE;
if (path !== undefined) {
  const [own, started, at] = [ownSeconds(), startedSeconds(), Date.now()];
  // The hook that is given first runs last.
  afterAll(() => {
    const times = {
      file: expect.getState().testPath,
      isOverHttp: inject('clickhouse') !== undefined,
      own: ownSeconds() - own,
      started: startedSeconds() - started,
      seconds: (Date.now() - at) / 1_000,
    };
    appendFileSync(path, `${JSON.stringify(times)}\n`);
  });
}
