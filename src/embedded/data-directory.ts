/**
 * The data directory: creates it and ensures that one process at a time uses it.
 *
 * The lock is a unix socket on which the owner listens, because the kernel removes a listening socket with its process,
 * however that ends: a lock left by `kill -9` does not respond, and no process id can be confused with another one
 * after a restart or in another container.
 *
 * Every contender has a separate file name, which appears only once its socket is listening (listen under another name,
 * then rename), and reads the others' only after that. So of two contenders the later to appear always sees the
 * earlier; both may give way if they start at the same instant, but never do both stay. Any process may remove the
 * files of dead ones.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { messageOf } from '../core/failures.ts';
import { withShortPath } from './local-socket.ts';

/** A data directory that cannot be used. The message is one line for the operator. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
}

export interface DataDirectory {
  readonly path: string;
  /** Releases the directory for another process. */
  release(): Promise<void>;
}

const LOCK_NAME = /^in-use-by-(\d+)-[0-9a-f-]+$/;
const LOCK_NAME_BYTES_MAX = 'starting-in-use-by-4194304-'.length + 36;

/** The file that exists while a restore writes the others. */
export function unfinishedRestore(path: string): string {
  return join(path, 'unfinished-restore');
}

/**
 * Creates `path` if needed and locks it for this process. Throws `DataDirectoryError` if another process has it or it
 * cannot be written.
 */
export async function takeDataDirectory(path: string): Promise<DataDirectory> {
  const lockDir = join(path, 'lock');
  if (existsSync(unfinishedRestore(path))) {
    throw new DataDirectoryError(
      `a restore into DATA_DIR ${path} has not ended, so it has a part of the data only: empty it and restore again`,
    );
  }
  try {
    // With the default mode: an embedded Postgres under another account must be able to pass through.
    await createDirectory(path);
    await createDirectory(lockDir);
  } catch (error) {
    throw new DataDirectoryError(`cannot create DATA_DIR ${path}: ${messageOf(error)}`);
  }
  return await withShortPath(lockDir, LOCK_NAME_BYTES_MAX, async (shortLockDir) => {
    const name = `in-use-by-${process.pid}-${randomUUID()}`;
    const server = await listen(shortLockDir, `starting-${name}`, path);
    await rename(join(lockDir, `starting-${name}`), join(lockDir, name));
    const release = async () => {
      await rm(join(lockDir, name), { force: true });
      await new Promise<void>((done) => server.close(() => done()));
    };
    const owner = await otherOwner(lockDir, shortLockDir, name);
    if (owner === null) return { path, release };
    await release();
    throw new DataDirectoryError(`DATA_DIR ${path} is in use by another tallyhouse process (pid ${owner})`);
  });
}

/**
 * With its parents. Node's own recursive mkdir never ends on a file system that refuses a directory with
 * ENOENT although the parent exists, such as /proc.
 */
async function createDirectory(path: string): Promise<void> {
  const code = await mkdirCode(path);
  if (code !== 'ENOENT') return;
  if (existsSync(dirname(path))) throw new Error('the file system takes no directory there');
  await createDirectory(dirname(path));
  await mkdirCode(path);
}

/** Null if the directory was created, EEXIST if the name exists already. */
async function mkdirCode(path: string): Promise<'EEXIST' | 'ENOENT' | null> {
  try {
    await mkdir(path);
    return null;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'EEXIST' || code === 'ENOENT') return code;
    throw error;
  }
}

/** Process id in the name of a live lock other than our own, or null. Removes dead ones. */
async function otherOwner(lockDir: string, shortLockDir: string, ownName: string): Promise<string | null> {
  for (const name of await readdir(lockDir)) {
    const pid = LOCK_NAME.exec(name)?.[1];
    if (pid === undefined || name === ownName) continue;
    if (await answers(join(shortLockDir, name))) return pid;
    await rm(join(lockDir, name), { force: true });
  }
  return null;
}

async function listen(shortLockDir: string, name: string, path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  // The lock alone must not keep the process alive.
  server.unref();
  await new Promise<void>((done, fail) => {
    server.once('error', (error) =>
      fail(new DataDirectoryError(`cannot lock DATA_DIR ${path}: ${messageOf(error)}`)),
    );
    server.listen(join(shortLockDir, name), done);
  });
  return server;
}

function answers(socketPath: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(socketPath);
    socket.once('connect', () => {
      socket.destroy();
      done(true);
    });
    socket.once('error', () => done(false));
  });
}
