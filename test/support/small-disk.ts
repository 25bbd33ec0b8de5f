/**
 * Programs on a separate disk, as small as a test wants: a file system in memory, in name spaces that Linux gives
 * ordinary users too. It is removed with the program.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getgid, getuid } from 'node:process';
import { type Program, runCommand } from './child-process.ts';

/** Arguments: where it is mounted, options, a directory that is copied onto it, then the command. */
const MOUNTED = `
where=$1 options=$2 content=$3; shift 3
mount -t tmpfs -o "$options" tallyhouse "$where" && cp -a "$content/." "$where/" && exec "$@"`;

const isRoot = getuid?.() === 0;
/** As root PostgreSQL does not run, so who is not root must be that again after the mount. */
const OWN_MOUNTS = isRoot ? ['--mount'] : ['--user', '--map-root-user', '--mount'];
const AS_BEFORE = isRoot
  ? []
  : ['unshare', '--user', `--map-user=${getuid?.()}`, `--map-group=${getgid?.()}`];

export interface SmallDisk {
  /** Where a program finds it. */
  readonly where: string;
  readonly megabytes: number;
  /** The content of the disk at the beginning. */
  readonly content: string;
}

function inOwnMounts({ where, megabytes, content }: SmallDisk, command: readonly string[]): string[] {
  const options = `size=${megabytes}m,mode=755`;
  return [...OWN_MOUNTS, 'sh', '-c', MOUNTED, 'sh', where, options, content, ...AS_BEFORE, ...command];
}

/** False where this system does not let its user have such a disk. */
export function hasSmallDisks(): boolean {
  const [where, content] = [emptyDirectory(), emptyDirectory()];
  const disk = { where, megabytes: 1, content };
  return spawnSync('unshare', inOwnMounts(disk, ['true'])).status === 0;
}

function emptyDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'tallyhouse-small-disk-'));
}

export function runOnSmallDisk(
  disk: SmallDisk,
  command: readonly string[],
  env: Record<string, string>,
): { readonly program: Program; path(name: string): string } {
  const program = runCommand('unshare', inOwnMounts(disk, command), env);
  return { program, path: (name) => `/proc/${program.child.pid}/root${disk.where}/${name}` };
}
