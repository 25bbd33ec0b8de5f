/**
 * The directory for the stores of the tests, and of the processes that they start and kill: in memory where there is
 * room for it. They sync every write, as in production, which takes a third of the CPU time of such tests on a disk.
 * Nothing of them has to outlive the machine.
 */
import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from './child-process.ts';

const MEMORY = '/dev/shm';
const PREFIX = 'tallyhouse-test-';
const OF_RUN = new RegExp(`^${PREFIX}(\\d+)-`);
/** A run takes some hundred MB. On a small machine or in a small container it stays on the disk. */
const FREE_BYTES_MIN = 8 * 1024 ** 3;

/** Creates a directory, in `otherwise` if memory is short. The caller removes it. */
export async function makeStoreDirectory(otherwise: string): Promise<string> {
  const hasRoom = process.availableMemory() >= FREE_BYTES_MIN && (await freeBytes(MEMORY)) >= FREE_BYTES_MIN;
  if (hasRoom) await removeAbandoned();
  const directory = await mkdtemp(
    hasRoom ? join(MEMORY, `${PREFIX}${process.pid}-`) : join(otherwise, 'stores-'),
  );
  // As root, PostgreSQL runs under another account, which has to pass through.
  await chmod(directory, 0o755);
  return directory;
}

async function freeBytes(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

/** Removes directories of runs that were killed. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(MEMORY)) {
    const pid = OF_RUN.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid)))
      await rm(join(MEMORY, name), { recursive: true, force: true }).catch(() => undefined);
  }
}
