/**
 * An embedded PostgreSQL: creates the cluster, starts the server, restarts it if it ends, stops it with this process.
 *
 * Accessible through a unix socket in a directory that only its owner (and root) can enter: no port, no password.
 * docs/how-to/operations.md explains access with psql.
 */
import { rm, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { PostgresConnection } from '../store/postgres-driver/connect-postgres.ts';
import { postgresAccount } from './postgres-account.ts';
import { postgresBinaries } from './postgres-binaries.ts';
import { ensureCluster, makeSocketDirectory, POSTGRES_USER, preparePlace } from './postgres-cluster.ts';
import type { Suspect } from './postgres-files.ts';
import { RESTART_WAITS_MS, type RestartLog, restartWhenEnded } from './postgres-restarts.ts';
import { type ServerPlace, startServer } from './postgres-server.ts';
import { isPostgresRunning, readPostmaster } from './postmaster-file.ts';
import { isShared, noteOrigin } from './stray-data.ts';

export interface EmbeddedPostgres {
  readonly connection: PostgresConnection;
  readonly dataDir: string;
  /** Files that looked damaged before the start. */
  readonly suspects: readonly Suspect[];
  /** Resolves, with the reason, when the server has ended by itself and cannot be restarted. */
  readonly lost: Promise<string>;
  /** Fast shutdown: open transactions are rolled back, committed ones are on disk. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** All files are in here, unless root had to move them (then it is a link). */
  readonly directory: string;
  /** Further server settings, over the ones below. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The wait before each attempt to restart an ended server. */
  readonly restartWaitsMs?: readonly number[];
  readonly log?: RestartLog | undefined;
}

/** initdb creates this database anyway; another one would only slow the first start. */
const DATABASE = 'postgres';

/** A start writes at least one file of the write-ahead log, 16 MB. */
const FREE_BYTES_MIN = 64 * 1024 * 1024;
/** The signal of a start that cannot be cancelled. */
const NEVER = new AbortController().signal;

/**
 * Durable like a production server. Everything else is sized for a small machine on which ClickHouse and Node need the
 * memory and the cores.
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
  // A file of a table that is shorter than before is damaged (postgres-files.ts).
  vacuum_truncate: 'off',
  log_min_messages: 'error',
  // The text of a failing statement can contain customer data.
  log_min_error_statement: 'panic',
};

/**
 * Starts the PostgreSQL in `directory`, creating it first if needed. Throws `EmbeddedPostgresError` with one line for
 * the operator if that is impossible.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { directory, settings, restartWaitsMs: waitsMs = RESTART_WAITS_MS, log } = options;
  const account = await postgresAccount();
  const binaries = await postgresBinaries(account);
  const home = await preparePlace(directory, account);
  if (isShared(home)) {
    await noteOrigin(home, resolve(directory));
    const text =
      'PostgreSQL’s account cannot enter DATA_DIR: its data lie elsewhere, and stay when DATA_DIR is removed';
    log?.info({ directory, data: home }, `${text} (npm run stray-data)`);
  }
  const dataDir = join(home, 'data');
  await ensureCluster(binaries, home, dataDir, account);
  const socketDir = await makeSocketDirectory(home, account);
  const place: ServerPlace = {
    program: binaries.postgres,
    account,
    directory,
    home,
    dataDir,
    socketDir,
    settings: { ...SETTINGS, ...settings },
  };
  const start = (cancelled: AbortSignal) => startServer(place, cancelled);
  const first = await start(NEVER);
  const isDiskFull = async () => {
    const { bavail, bsize } = await statfs(dataDir);
    return bavail * bsize < FREE_BYTES_MIN;
  };
  const restarts = restartWhenEnded(first, { start, waitsMs, log, isDiskFull });
  return {
    connection: { socketDir, user: POSTGRES_USER, database: DATABASE },
    dataDir,
    suspects: first.suspects,
    lost: restarts.lost,
    stop: async () => {
      await restarts.stop();
      if (!socketDir.startsWith(home)) await rm(socketDir, { recursive: true, force: true });
    },
  };
}

/** The running server of a data directory that another process of ours owns, or null. For command-line tools. */
export async function runningPostgres(directory: string): Promise<PostgresConnection | null> {
  const postmaster = await readPostmaster(join(directory, 'data'));
  if (postmaster === null || !postmaster.isReady || !(await isPostgresRunning(postmaster.pid))) return null;
  return { socketDir: postmaster.socketDir, user: POSTGRES_USER, database: DATABASE };
}
