/**
 * The account that an embedded PostgreSQL runs under, and its access to directories. PostgreSQL refuses to run as root,
 * so root runs it as the account `postgres`, or else `nobody`, with access to the data directory only. An ordinary user
 * runs it as itself.
 */
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

const run = promisify(execFile);

/** The account to spawn PostgreSQL with, or undefined for the account of this process. */
export async function postgresAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  return (await lookUp('postgres')) ?? (await lookUp('nobody'));
}

async function lookUp(name: string): Promise<Account | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

/** True if `account` may pass through every directory above `path`, all of which exist. */
export async function canReach(account: Account | undefined, path: string): Promise<boolean> {
  if (account === undefined) return true;
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    const { mode, uid, gid } = await stat(directory);
    const executable = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & executable) === 0) return false;
    if (directory === dirname(directory)) return true;
  }
}
