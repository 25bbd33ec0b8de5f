/**
 * The files of an embedded PostgreSQL: their paths, their owner, and the cluster itself, created with initdb. Does not
 * run the server.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, realpath, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { MINUTE_MS } from '../core/time.ts';
import { SOCKET_PATH_BYTES_MAX } from './local-socket.ts';
import { type Account, canReach } from './postgres-account.ts';
import { EmbeddedPostgresError, type PostgresBinaries, SHARED_STATE_DIRECTORY } from './postgres-binaries.ts';

export const POSTGRES_USER = 'tallyhouse';

/** Its programs inherit nothing of this process's environment: PGDATA, PGPORT and the like would affect them. */
export const POSTGRES_ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C' };

/**
 * Creates the directory and gives it to `account`. If that account has no access to it, the contents are in the shared
 * state directory and `directory` is a link to them.
 */
export async function preparePlace(directory: string, account: Account | undefined): Promise<string> {
  const existing = await realpath(directory).catch(() => null);
  if (existing !== null && (await canReach(account, existing))) return existing;
  if (await canReach(account, directory)) {
    await mkdir(directory, { mode: 0o700 });
    if (account !== undefined) await chown(directory, account.uid, account.gid);
    return await realpath(directory);
  }
  if (existing !== null || account === undefined) throw unreachableDirectory(directory);
  try {
    await mkdir(SHARED_STATE_DIRECTORY, { recursive: true });
    const elsewhere = await mkdtemp(join(SHARED_STATE_DIRECTORY, 'data-'));
    await chown(elsewhere, account.uid, account.gid);
    await symlink(elsewhere, directory);
    return elsewhere;
  } catch {
    throw unreachableDirectory(directory);
  }
}

function unreachableDirectory(directory: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `PostgreSQL does not run as root and no other account can enter ${directory}; choose another DATA_DIR or set DATABASE_URL`,
  );
}

/** On a very busy machine it takes a minute. */
const CREATION_LIMIT_MS = 10 * MINUTE_MS;

/** Creates the cluster in another directory and renames it, so that an interrupted creation is simply repeated. */
export async function ensureCluster(
  binaries: PostgresBinaries,
  home: string,
  dataDir: string,
  account: Account | undefined,
): Promise<void> {
  const names = await readdir(home);
  if (names.includes('data')) return;
  for (const name of names.filter((each) => each.startsWith('new-'))) {
    await rm(join(home, name), { recursive: true, force: true });
  }
  const unfinished = await mkdtemp(join(home, 'new-'));
  if (account !== undefined) await chown(unfinished, account.uid, account.gid);
  const identity = [
    '-U',
    POSTGRES_USER,
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    '--no-instructions',
  ];
  const child = spawn(binaries.initdb, ['-D', unfinished, ...identity], {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: home,
    env: POSTGRES_ENVIRONMENT,
    timeout: CREATION_LIMIT_MS,
    killSignal: 'SIGKILL',
    ...account,
  });
  const lastLines = collectLastLines(child);
  const [code, signal] = await once(child, 'close').catch((error: Error) => [error.message]);
  if (code !== 0)
    throw new EmbeddedPostgresError(`initdb failed in ${home} (${code ?? signal}): ${lastLines.text()}`);
  await rename(unfinished, dataDir);
}

/** A directory that only `account` can enter, with a path short enough for a socket in it. */
export async function makeSocketDirectory(home: string, account: Account | undefined): Promise<string> {
  const nearby = join(home, 'socket');
  const fits = Buffer.byteLength(join(nearby, '.s.PGSQL.5432.lock')) <= SOCKET_PATH_BYTES_MAX;
  if (fits) await mkdir(nearby, { recursive: true });
  const socketDir = fits ? nearby : await mkdtemp(join(tmpdir(), 'tallyhouse-pg-'));
  if (account !== undefined) await chown(socketDir, account.uid, account.gid);
  await chmod(socketDir, 0o700);
  return socketDir;
}

/** The last lines of a program's standard error, for the one error message that needs them. */
export interface LastLines {
  /** On one line. */
  text(): string;
  /** Drops the lines of a program that has succeeded so far. */
  forget(): void;
}

export function collectLastLines(child: ChildProcess): LastLines {
  const kept: string[] = [];
  if (child.stderr !== null) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      kept.push(line.trim());
      if (kept.length > 5) kept.shift();
    });
  }
  return {
    text: () => kept.filter((line) => line !== '').join(' | ') || 'it said nothing',
    forget: () => kept.splice(0),
  };
}
