/**
 * Once per run: creates a directory for all files of the tests, and in it one PostgreSQL with a migrated database,
 * which `stores.ts` copies for each test file. Both are removed when the run ends.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../src/embedded/postgres.ts';
import { findStrayData, removeStrayData } from '../../src/embedded/stray-data.ts';
import { connectPostgres, type PostgresConnection } from '../../src/store/database.ts';
import { migrateDatabase } from '../../src/store/migrate.ts';
import { propertySeed } from './property-seed.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Removed when the run ends. */
    runDirectory: string;
    postgres: PostgresConnection;
    /** Whether the run may take long. */
    isThorough: boolean;
    /** Null: every property has a seed of its own, another one in each run. */
    propertySeed: number | null;
  }
}

export const TEMPLATE_DATABASE = 'migrated';

/** Nothing here has to outlive a crash. */
const FAST = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '200',
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const runDirectory = await mkdtemp(join(tmpdir(), 'tallyhouse-test-'));
  // As root, PostgreSQL runs under another account, which has to pass through.
  await chmod(runDirectory, 0o755);
  const postgres = await startEmbeddedPostgres({ directory: join(runDirectory, 'postgres'), settings: FAST });
  const teardown = async () => {
    await postgres.stop();
    await rm(runDirectory, { recursive: true, force: true, maxRetries: 20 });
    await removeDataOfTests();
  };
  try {
    const admin = connectPostgres(postgres.connection, { max: 1 });
    await admin.unsafe(`CREATE DATABASE ${TEMPLATE_DATABASE}`);
    await admin.end();
    await migrateDatabase({ ...postgres.connection, database: TEMPLATE_DATABASE });
  } catch (error) {
    await teardown();
    throw error;
  }
  project.provide('runDirectory', runDirectory);
  project.provide('postgres', postgres.connection);
  const isThorough = project.name === 'long';
  project.provide('isThorough', isThorough);
  project.provide('propertySeed', isThorough ? null : await propertySeed(project.vitest.config.root));
  return teardown;
}

/** As root, data of a closed DATA_DIR lie elsewhere; those of this run, and of runs that were killed, are not wanted. */
async function removeDataOfTests(): Promise<void> {
  for (const stray of await findStrayData()) {
    if (stray.origin?.startsWith(tmpdir()) === true) await removeStrayData(stray).catch(() => undefined);
  }
}
