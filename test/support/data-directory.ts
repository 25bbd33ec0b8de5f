/** Directories for the embedded stores of processes that a test starts. */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inject, onTestFinished, TestRunner } from 'vitest';
import { CLUSTER_DIRECTORY, copyDirectory } from './global-setup.ts';

/**
 * A DATA_DIR without data, removed with the test that makes it, or with the run. Making the files of PostgreSQL is most
 * of a first start; here that is done.
 *
 * It lies in memory where there is room (`store-directory.ts`): that outlives `kill -9` as a disk does, and the syncs of
 * three stores are a tenth of the computing of such tests and more of their time.
 */
export async function createDataDirectory(): Promise<string> {
  const directory = await mkdtemp(join(inject('storeDirectory'), 'data-'));
  if (TestRunner.getCurrentTest() !== undefined)
    onTestFinished(async () => {
      // A process that is being ended may still write: that goes with the run.
      await rm(directory, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
    });
  // For an embedded PostgreSQL under another account, as in createTestDirectory.
  await chmod(directory, 0o755);
  const dataDir = join(directory, 'data');
  await mkdir(dataDir);
  await copyCluster(join(dataDir, 'postgres'));
  return dataDir;
}

/** Makes the directory of an embedded PostgreSQL that has not been started yet. */
export async function copyCluster(directory: string): Promise<void> {
  await copyDirectory(join(inject('runDirectory'), CLUSTER_DIRECTORY), directory);
}
