/**
 * `postmaster.pid`, the file in which a running PostgreSQL writes its process id and whether it is ready. It
 * remains after a server was killed, so the process has to be checked.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Postmaster {
  readonly pid: number;
  /** The data directory that it serves; another one if the file was copied from there. */
  readonly dataDir: string;
  readonly socketDir: string;
  readonly isReady: boolean;
}

const run = promisify(execFile);

/** The content of the file in `dataDir`, or null without a complete one. */
export async function readPostmaster(dataDir: string): Promise<Postmaster | null> {
  const text = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return { pid, dataDir: lines[1] ?? '', socketDir: lines[4] ?? '', isReady: lines[7] === 'ready' };
}

/** True when process `pid` is a PostgreSQL that still runs (an exited one not yet reaped does not count). */
export async function isPostgresRunning(pid: number): Promise<boolean> {
  if (process.platform === 'linux') {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const [, name, state] = /^\d+ \((.*)\) (\S)/s.exec(text) ?? [];
    return name === 'postgres' && state !== 'Z' && state !== 'X';
  }
  const { stdout } = await run('ps', ['-o', 'stat=,comm=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.includes('postgres') && !stdout.trimStart().startsWith('Z');
}
