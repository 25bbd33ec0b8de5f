/**
 * One run of the PostgreSQL server: starts the process, waits until it accepts connections, stops it.
 *
 * The server has a separate process group, so Ctrl-C reaches only this process, which can finish its work first; and
 * the server is attached to a pipe from this process, so it shuts down cleanly even if this process is killed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { lstat, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from './postgres-account.ts';
import { EmbeddedPostgresError } from './postgres-binaries.ts';
import { collectLastLines, POSTGRES_ENVIRONMENT } from './postgres-cluster.ts';
import { checkFiles, LIST_FILES, type Suspect } from './postgres-files.ts';
import { isPostgresRunning, type Postmaster, readPostmaster } from './postmaster-file.ts';

/** The program, account and directories of a server. */
export interface ServerPlace {
  /** The program `postgres`. */
  readonly program: string;
  readonly account: Account | undefined;
  /** The directory that is known to the operator; as root it may be a link to `home`. */
  readonly directory: string;
  readonly home: string;
  readonly dataDir: string;
  readonly socketDir: string;
  readonly settings: Readonly<Record<string, string>>;
}

export interface PostgresServer {
  /** Resolves when the process has ended, for any reason, with its last output. */
  readonly ended: Promise<string>;
  /** Files that looked damaged before it started. */
  readonly suspects: readonly Suspect[];
  /** Fast shutdown: open transactions are rolled back, committed ones are on disk. */
  stop(): Promise<void>;
}

/** A server that is ending needs milliseconds; one that is still running after this will stay. */
const OLD_SERVER_WAIT_MS = 3_000;
const START_WAIT_MS = 60_000;
const STOP_WAIT_MS = 10_000;
const POLL_MS = 5;

/**
 * Runs a server that ends with its standard input: `sh` starts it, reports its process id, and interrupts it (a fast
 * shutdown) when the pipe closes: repeatedly, because a server that has only just been started ignores it. `sh` ends
 * with the server, so its end is observed here. If the server ended cleanly, its files are listed.
 */
const UNTIL_PIPE_CLOSES = `
data=$1 list=$2
shift 2
${LIST_FILES}
exec 3<&0
"$@" </dev/null >&2 3<&- &
server=$!
echo $server
{ read -r _ <&3; while kill -INT $server; do sleep 0.1; done; } >/dev/null 2>&1 &
reader=$!
exec 3<&-
wait $server
status=$?
kill $reader 2>/dev/null
[ $status = 0 ] && cd "$data" && list_files >"$list.new" 2>/dev/null && mv "$list.new" "$list"
exit $status`;

/**
 * Resolves when the server accepts connections. Throws `EmbeddedPostgresError` with one line for the operator if it
 * does not, or if `cancelled` is aborted first; then it does not run.
 */
export async function startServer(place: ServerPlace, cancelled: AbortSignal): Promise<PostgresServer> {
  await waitForOldServer(place);
  const { list, suspects } = await checkFiles(place.dataDir, place.account);
  const { program, account, home, dataDir, socketDir } = place;
  const settings = { ...place.settings, unix_socket_directories: socketDir };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = [dataDir, list, program, '-D', dataDir, ...flags];
  const child = spawn('/bin/sh', ['-c', UNTIL_PIPE_CLOSES, 'sh', ...command], {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd: home,
    env: POSTGRES_ENVIRONMENT,
    ...account,
  });
  const lastLines = collectLastLines(child);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  // If `sh` alone was killed, this interrupts the server.
  void exited.then(() => child.stdin.destroy());
  const pid = await Promise.race([readFirstNumber(child), exited.then(() => 0)]);
  const stop = () => stopServer(child, pid, exited);
  if (!(await isReady(pid, dataDir, exited, cancelled))) {
    await stop();
    throw new EmbeddedPostgresError(
      `the embedded PostgreSQL did not start in ${dataDir}: ${lastLines.text()}. ` +
        'Where a file is damaged or missing, put this directory back from a backup',
    );
  }
  lastLines.forget();
  return { ended: exited.then(() => lastLines.text()), suspects, stop };
}

/** A server that was killed a moment ago may still be writing its last checkpoint. */
async function waitForOldServer({ directory, dataDir, socketDir }: ServerPlace): Promise<void> {
  const giveUpAt = Date.now() + OLD_SERVER_WAIT_MS;
  for (;;) {
    const postmaster = await readPostmaster(dataDir);
    if (postmaster === null) return;
    if (!(await isPostgresRunning(postmaster.pid))) break;
    await refuseCopy(dataDir, postmaster);
    if (Date.now() > giveUpAt) {
      const line = `a PostgreSQL (pid ${postmaster.pid}) already serves ${dataDir}`;
      // As root, the files may be elsewhere; a copy of DATA_DIR then has the link, and not the files.
      const link = `, to which ${directory} is a link: copy what it points to as well (cp -aL), into a separate DATA_DIR`;
      throw new EmbeddedPostgresError((await isLink(directory)) ? `${line}${link}` : line);
    }
    await delay(POLL_MS);
  }
  // Its process has exited, or its id was reused. PostgreSQL itself would refuse to start while any process of the same
  // account has that id.
  await rm(join(dataDir, 'postmaster.pid'), { force: true });
  await rm(join(socketDir, '.s.PGSQL.5432.lock'), { force: true });
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path)).isSymbolicLink();
}

/** Files that are copied while a server writes them are inconsistent. */
async function refuseCopy(dataDir: string, { pid, dataDir: served }: Postmaster): Promise<void> {
  const [here, there] = await Promise.all([realpath(dataDir), realpath(served).catch(() => served)]);
  if (here === there) return;
  throw new EmbeddedPostgresError(
    `${dataDir} is a copy of ${served}, taken while PostgreSQL (pid ${pid}) was writing there, and may be inconsistent; ` +
      `stop that service before copying. If the copy is an atomic snapshot, remove ${join(dataDir, 'postmaster.pid')} and start again`,
  );
}

/** False if the process ends first, takes too long, or is cancelled. */
async function isReady(
  pid: number,
  dataDir: string,
  exited: Promise<void>,
  cancelled: AbortSignal,
): Promise<boolean> {
  let hasExited = false;
  const ends = exited.then(() => {
    hasExited = true;
  });
  const giveUpAt = Date.now() + START_WAIT_MS;
  while (!hasExited && !cancelled.aborted && Date.now() < giveUpAt) {
    const postmaster = await readPostmaster(dataDir);
    if (postmaster?.pid === pid && postmaster.isReady) return true;
    await Promise.race([delay(POLL_MS), ends]);
  }
  return false;
}

async function readFirstNumber(child: ChildProcess): Promise<number> {
  if (child.stdout === null) return 0;
  for await (const line of createInterface({ input: child.stdout })) return Number(line);
  return 0;
}

async function stopServer(child: ChildProcess, pid: number, exited: Promise<void>): Promise<void> {
  if (pid === 0 || child.exitCode !== null || child.signalCode !== null) return;
  child.stdin?.end();
  const gone = exited.then(() => true);
  const limit = new AbortController();
  const inTime = await Promise.race([
    gone,
    delay(STOP_WAIT_MS, false, { signal: limit.signal }).catch(() => false),
  ]);
  limit.abort();
  if (inTime) return;
  // Immediate shutdown: committed transactions are in the log and are recovered by the next start.
  if (await isPostgresRunning(pid)) process.kill(pid, 'SIGQUIT');
  await exited;
}
