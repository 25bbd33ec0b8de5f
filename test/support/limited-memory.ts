/**
 * Programs whose memory, with that of all that they start, is limited: a group of Linux for each, of either version.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Program, runCommand } from './child-process.ts';

const GROUPS = '/sys/fs/cgroup';

/** In the first version each kind of limit has a separate tree. */
const isFirst = existsSync(join(GROUPS, 'memory/memory.limit_in_bytes'));
const [TREE, LIMIT, USAGE] = isFirst
  ? [join(GROUPS, 'memory'), 'memory.limit_in_bytes', 'memory.stat']
  : [GROUPS, 'memory.max', 'memory.stat'];

export interface LimitedMemory {
  run(command: readonly string[], env: Record<string, string>): Program;
  /** The memory of all its processes, without what is only kept of files. */
  usedMb(): number;
  /** When all its processes have ended. */
  remove(): void;
}

const IN_GROUP = ['sh', '-c', 'echo $$ > "$0" && exec "$@"'] as const;

/** In a container whose groups have other names outside, a program may be limited without seeing it. */
function isSeenBelow(procs: string, megabytes: number): boolean {
  const [shell, ...options] = IN_GROUP;
  const tell = [procs, process.execPath, '-p', 'process.constrainedMemory()'];
  const { stdout } = spawnSync(shell, [...options, ...tell], { encoding: 'utf8' });
  return Number(stdout) === megabytes * 1024 ** 2;
}

/** Null where this system does not let its user limit memory. */
export function limitedMemory(megabytes: number): LimitedMemory | null {
  const group = join(TREE, `tallyhouse-test-${process.pid}-${Date.now()}`);
  const procs = join(group, 'cgroup.procs');
  try {
    mkdirSync(group);
    writeFileSync(join(group, LIMIT), String(megabytes * 1024 ** 2));
    appendFileSync(procs, '');
    if (!isSeenBelow(procs, megabytes)) throw new Error('a program in the group does not see the limit');
  } catch {
    if (existsSync(group)) rmdirSync(group);
    return null;
  }
  const [shell, ...options] = IN_GROUP;
  return {
    run: (command, env) => runCommand(shell, [...options, procs, ...command], env),
    usedMb: () => {
      const stat = readFileSync(join(group, USAGE), 'utf8');
      const bytes = new RegExp(`^${isFirst ? 'total_rss' : 'anon'} (\\d+)$`, 'm').exec(stat)?.[1];
      return Number(bytes) / 1024 ** 2;
    },
    remove: () => rmdirSync(group),
  };
}
