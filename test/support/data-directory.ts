/** Directories for the embedded stores of processes that a test starts. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { CLUSTER_DIRECTORY, copyDirectory } from './global-setup.ts';
import { createTestDirectory } from './stores.ts';

/** A DATA_DIR without data. Making the files of PostgreSQL is most of a first start; here that is done. */
export async function createDataDirectory(): Promise<string> {
  const dataDir = join(await createTestDirectory(), 'data');
  await mkdir(dataDir);
  await copyCluster(join(dataDir, 'postgres'));
  return dataDir;
}

/** Makes the directory of an embedded PostgreSQL that has not been started yet. */
export async function copyCluster(directory: string): Promise<void> {
  await copyDirectory(join(inject('runDirectory'), CLUSTER_DIRECTORY), directory);
}
