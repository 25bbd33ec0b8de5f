/**
 * An embedded PostgreSQL: creates the cluster, starts the server, stops it with this process.
 *
 * Reachable through a unix socket in a directory that only its owner (and root) can enter: no port, no
 * password. The server has a process group of its own, so Ctrl-C reaches this process alone and it can
 * finish its work first; and it hangs on a pipe from this process, so it shuts down cleanly even when
 * this process is killed. docs/operations.md says how to reach it with psql.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { lstat, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { PostgresConnection } from '../store/database.ts';
import { postgresAccount } from './postgres-account.ts';
import { EmbeddedPostgresError, postgresBinaries } from './postgres-binaries.ts';
import {
  collectLastLines,
  ensureCluster,
  makeSocketDirectory,
  POSTGRES_ENVIRONMENT,
  POSTGRES_USER,
  preparePlace,
} from './postgres-cluster.ts';
import { isPostgresRunning, type Postmaster, readPostmaster } from './postmaster-file.ts';

export interface EmbeddedPostgres {
  readonly connection: PostgresConnection;
  /** Resolves when the server has ended without being told to, with what it said last. */
  readonly ended: Promise<string>;
  /** Fast shutdown: open transactions are rolled back, committed ones are on disk. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Everything is kept in here, except where root had to move it (then it is a link). */
  readonly directory: string;
  /** Further server settings, over the ones below. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** initdb makes this database anyway; a further one would only cost time at the first start. */
const DATABASE = 'postgres';

/** A server that is just ending needs milliseconds; one that is still there after this will stay. */
const OLD_SERVER_WAIT_MS = 3_000;
const START_WAIT_MS = 60_000;
const STOP_WAIT_MS = 10_000;
const POLL_MS = 5;

/**
 * Durable as a server in production is. Everything else is sized for a small machine on which
 * ClickHouse and Node want the memory and the cores.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  timezone: 'UTC',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  max_connections: '50',
  shared_buffers: '128MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_parallel_workers_per_gather: '0',
  io_method: 'sync',
  jit: 'off',
  log_min_messages: 'error',
  // The text of a failing statement can hold customers' data.
  log_min_error_statement: 'panic',
};

/**
 * Runs a server that ends with its standard input: `sh` starts it, tells its process id, and interrupts
 * it (a fast shutdown) when the pipe closes. `sh` ends with it, so its end is seen here.
 */
const UNTIL_PIPE_CLOSES = `
exec 3<&0
"$@" </dev/null >&2 3<&- &
server=$!
echo $server
{ read -r _ <&3; kill -INT $server; } 2>/dev/null &
reader=$!
exec 3<&-
wait $server
status=$?
kill $reader 2>/dev/null
exit $status`;

/**
 * Starts the PostgreSQL in `directory`, making it first where there is none. Throws
 * `EmbeddedPostgresError` with one line for the operator when that is not possible.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const account = await postgresAccount();
  const binaries = await postgresBinaries(account);
  const home = await preparePlace(options.directory, account);
  const dataDir = join(home, 'data');
  await ensureCluster(binaries, home, dataDir, account);
  await waitForOldServer(options.directory, dataDir);
  const socketDir = await makeSocketDirectory(home, account);
  const settings = { ...SETTINGS, ...options.settings, unix_socket_directories: socketDir };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(
    '/bin/sh',
    ['-c', UNTIL_PIPE_CLOSES, 'sh', binaries.postgres, '-D', dataDir, ...flags],
    {
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      cwd: home,
      env: POSTGRES_ENVIRONMENT,
      ...account,
    },
  );
  const lastWords = collectLastLines(child);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  await waitUntilReady(child, dataDir, exited, lastWords);
  return {
    connection: { socketDir, user: POSTGRES_USER, database: DATABASE },
    ended: exited.then(() => lastWords()),
    stop: async () => {
      await stopServer(child, exited);
      if (!socketDir.startsWith(home)) await rm(socketDir, { recursive: true, force: true });
    },
  };
}

/** The running server of a data directory that another process of ours has, or null. For tools beside it. */
export async function runningPostgres(directory: string): Promise<PostgresConnection | null> {
  const postmaster = await readPostmaster(join(directory, 'data'));
  if (postmaster === null || !postmaster.isReady || !(await isPostgresRunning(postmaster.pid))) return null;
  return { socketDir: postmaster.socketDir, user: POSTGRES_USER, database: DATABASE };
}

/** A server whose process was killed a moment ago may still be writing its last checkpoint. */
async function waitForOldServer(directory: string, dataDir: string): Promise<void> {
  const giveUpAt = Date.now() + OLD_SERVER_WAIT_MS;
  for (;;) {
    const postmaster = await readPostmaster(dataDir);
    if (postmaster === null) return;
    if (!(await isPostgresRunning(postmaster.pid))) break;
    await refuseCopy(dataDir, postmaster);
    if (Date.now() > giveUpAt) {
      const line = `a PostgreSQL (pid ${postmaster.pid}) already serves ${dataDir}`;
      // As root, the files may be elsewhere; a copy of DATA_DIR then has the link, and not the files.
      const link = `, to which ${directory} is a link: copy what it points to as well (cp -aL), into a DATA_DIR of its own`;
      throw new EmbeddedPostgresError((await isLink(directory)) ? `${line}${link}` : line);
    }
    await delay(POLL_MS);
  }
  // Its process is gone or is something else by now. PostgreSQL itself would refuse to start while any
  // process, whichever, has that number.
  await rm(join(dataDir, 'postmaster.pid'), { force: true });
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path)).isSymbolicLink();
}

/** Files that are copied while a server writes them belong to different moments. */
async function refuseCopy(dataDir: string, { pid, dataDir: served }: Postmaster): Promise<void> {
  const [here, there] = await Promise.all([realpath(dataDir), realpath(served).catch(() => served)]);
  if (here === there) return;
  throw new EmbeddedPostgresError(
    `${dataDir} is a copy of ${served}, made while PostgreSQL (pid ${pid}) was writing there, and may be inconsistent; ` +
      `stop that service before copying. Of an atomic snapshot, remove ${join(dataDir, 'postmaster.pid')} and start again`,
  );
}

async function waitUntilReady(
  child: ChildProcess,
  dataDir: string,
  exited: Promise<void>,
  lastWords: () => string,
): Promise<void> {
  let hasExited = false;
  const ends = exited.then(() => {
    hasExited = true;
  });
  const pid = await Promise.race([readFirstNumber(child), ends.then(() => 0)]);
  const giveUpAt = Date.now() + START_WAIT_MS;
  while (!hasExited && Date.now() < giveUpAt) {
    const postmaster = await readPostmaster(dataDir);
    if (postmaster?.pid === pid && postmaster.isReady) return;
    await Promise.race([delay(POLL_MS), ends]);
  }
  if (!hasExited) await stopServer(child, exited);
  throw new EmbeddedPostgresError(`the embedded PostgreSQL did not start in ${dataDir}: ${lastWords()}`);
}

async function readFirstNumber(child: ChildProcess): Promise<number> {
  if (child.stdout === null) return 0;
  for await (const line of createInterface({ input: child.stdout })) return Number(line);
  return 0;
}

async function stopServer(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.stdin?.end();
  const gone = exited.then(() => true);
  const limit = new AbortController();
  const inTime = await Promise.race([
    gone,
    delay(STOP_WAIT_MS, false, { signal: limit.signal }).catch(() => false),
  ]);
  limit.abort();
  if (inTime) return;
  // Immediate shutdown: what is committed is in the log and is recovered by the next start.
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGQUIT');
  await exited;
}
