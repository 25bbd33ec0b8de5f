/**
 * Once per run, for all of its projects: creates a directory for all files of the tests, and in it a PostgreSQL
 * cluster, which `data-directory.ts` copies, and a running PostgreSQL with a migrated database, which `stores.ts` copies.
 * All are removed when the run ends.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../src/embedded/postgres.ts';
import { postgresAccount } from '../../src/embedded/postgres-account.ts';
import { postgresBinaries } from '../../src/embedded/postgres-binaries.ts';
import { ensureCluster, preparePlace } from '../../src/embedded/postgres-cluster.ts';
import { findStrayData, removeStrayData } from '../../src/embedded/stray-data.ts';
import { migrateDatabase } from '../../src/store/migrations/migrate.ts';
import {
  connectPostgres,
  type PostgresConnection,
} from '../../src/store/postgres-driver/connect-postgres.ts';
import { propertySeed } from './property-seed.ts';
import { makeStoreDirectory } from './store-directory.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Removed when the run ends. */
    runDirectory: string;
    /** The directory of the stores that test processes open themselves; removed as well. */
    storeDirectory: string;
    postgres: PostgresConnection;
    /** Whether the run may take long. */
    isThorough: boolean;
    /** Null: every property has a separate seed, another one in each run. */
    propertySeed: number | null;
  }
}

export const TEMPLATE_DATABASE = 'migrated';
/**
 * In the directory of the run: what the first start of an embedded PostgreSQL makes, before its server starts.
 */
export const CLUSTER_DIRECTORY = 'cluster';

/** Nothing here has to outlive a crash. */
const FAST = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
};

/** The stores that a run has once, however many of its projects are tested. */
interface RunStores {
  readonly directory: string;
  readonly storeDirectory: string;
  readonly postgres: PostgresConnection;
  close(): Promise<void>;
}

/** Every project loads this file again, so the stores that they share are a member of the process. */
const run = globalThis as { storesOfTests?: { readonly stores: Promise<RunStores>; projects: number } };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  run.storesOfTests ??= { stores: startStores(), projects: 0 };
  const shared = run.storesOfTests;
  shared.projects += 1;
  const stores = await shared.stores;
  project.provide('runDirectory', stores.directory);
  project.provide('storeDirectory', stores.storeDirectory);
  project.provide('postgres', stores.postgres);
  const isThorough = project.name === 'long';
  project.provide('isThorough', isThorough);
  project.provide('propertySeed', isThorough ? null : await propertySeed(project.vitest.config.root));
  return async () => {
    shared.projects -= 1;
    if (shared.projects > 0) return;
    delete run.storesOfTests;
    await stores.close();
  };
}

async function startStores(): Promise<RunStores> {
  const runDirectory = await mkdtemp(join(tmpdir(), 'tallyhouse-test-'));
  // As root, PostgreSQL runs under another account, which has to pass through.
  await chmod(runDirectory, 0o755);
  const storeDirectory = await makeStoreDirectory(runDirectory);
  const directory = join(runDirectory, 'postgres');
  await copyDirectory(await makeCluster(join(runDirectory, CLUSTER_DIRECTORY)), directory);
  const postgres = await startEmbeddedPostgres({ directory, settings: FAST });
  const close = async () => {
    await postgres.stop();
    for (const each of [storeDirectory, runDirectory])
      await rm(each, { recursive: true, force: true, maxRetries: 20 });
    await removeDataOfTests();
  };
  try {
    const admin = connectPostgres(postgres.connection, { max: 1 });
    await admin.unsafe(`CREATE DATABASE ${TEMPLATE_DATABASE}`);
    await admin.end();
    await migrateDatabase({ ...postgres.connection, database: TEMPLATE_DATABASE });
  } catch (error) {
    await close();
    throw error;
  }
  return { directory: runDirectory, storeDirectory, postgres: postgres.connection, close };
}

async function makeCluster(directory: string): Promise<string> {
  const account = await postgresAccount();
  const home = await preparePlace(directory, account);
  await ensureCluster(await postgresBinaries(account), home, join(home, 'data'), account);
  return home;
}

/** With owners and permissions, which PostgreSQL insists on. */
export async function copyDirectory(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to]);
}

/**
 * As root, data of a closed DATA_DIR lie elsewhere; those of this run, and of runs that were killed, are not wanted.
 */
async function removeDataOfTests(): Promise<void> {
  for (const stray of await findStrayData()) {
    if (stray.origin?.startsWith(tmpdir()) === true) await removeStrayData(stray).catch(() => undefined);
  }
}
