import { readFile } from 'node:fs/promises';

/** Clock ticks per second of /proc, a constant of Linux on every platform that Node supports. */
const TICKS_PER_SECOND = 100;

/** CPU seconds of all threads of a process up to now, or NaN where there is no /proc. */
export async function cpuSecondsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the process, in parentheses, may hold spaces: fields are counted from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11] ?? Number.NaN) + Number(fields[12] ?? Number.NaN)) / TICKS_PER_SECOND;
}
