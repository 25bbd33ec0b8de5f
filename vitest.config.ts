import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { FURTHER } from './test/rings.ts';

/** Their databases have connections to one PostgreSQL. */
const WORKERS_MAX = 5;

/**
 * Files that run on the embedded engine like all others, and again on two shards of Distributed tables over HTTP. The
 * text of a statement and the numbers themselves could differ there, so the laws are tried there too.
 */
const ON_SHARDS = [
  'test/integration/{usage,event-search,repeat,backfill,event-retention,erase-customers}*.test.ts',
  'test/integration/{dedup-processes,dedup-service,sql-event-owners,sql-metric,sql-metric-road}.test.ts',
  'test/integration/invoice-road.test.ts',
  'test/property/{usage,sql}*.test.ts',
];
/**
 * One node over HTTP gets the statements of the embedded engine, over the client of the shards. Only the ways in which
 * a statement, its parameters, its rows and its errors travel remain to be tried.
 */
const ON_ONE_NODE = [
  'test/integration/{clickhouse-statements,usage-queries,event-search,frozen-lines,repeat-log}.test.ts',
  'test/integration/{backfill-damaged-file,dedup-processes,dedup-service,sql,sql-metric-road}.test.ts',
  // Statements that are no queries.
  'test/integration/{event-retention,erase-customers}.test.ts',
];

/** They open an engine on a separate directory, which binds the process, or change the process itself. */
const IN_OWN_PROCESS = [
  'test/e2e/backfill-files.test.ts',
  'test/integration/clickhouse-embedded.test.ts',
  'test/integration/clickhouse-remote-files.test.ts',
  'test/integration/held-merges.test.ts',
  'test/integration/move-waiting-senders.test.ts',
];

/**
 * Tests that take minutes each; `npm run test:long` runs them, tries the properties more often, and starts processes
 * for the cases that `mainCases` (test/support/shares-of-tests.ts) leaves out of every other run.
 */
const LONG = 'test/long/*.test.ts';
const MORE_IN_LONG = [
  'test/property/*.test.ts',
  'test/e2e/{backfill,damaged-data,damaged-log,overload,damaged-stores,demo,killed-at-random}.test.ts',
  'test/integration/{clickhouse-remote-process,postgres-lost,stripe-gates}.test.ts',
];

const overHttp = (name: string, include: string[]) => ({
  extends: true as const,
  test: {
    name,
    include,
    globalSetup: ['test/support/global-setup.ts', 'test/support/remote-setup.ts'],
  },
});

export default defineConfig({
  test: {
    pool: 'forks',
    // One more than there are cores: a process waits for its stores now and then. Each takes up to a gigabyte.
    maxWorkers: Math.min(Math.max(3, availableParallelism() + 1), WORKERS_MAX),
    // Importing the service costs more than most files do with it: files share a process, one after the other.
    isolate: false,
    // Kept by the content of each file: projects load the same files, and the next run those that did not change.
    experimental: { fsModuleCache: true },
    setupFiles: ['test/support/seed-properties.ts', 'test/support/record-times.ts'],
    // The questions whether something is there take the cores that make it.
    // Limits find tests that hang. A test that is only slow, on a machine with other work, does not fail.
    expect: { requireAssertions: true, poll: { timeout: 120_000, interval: 50 } },
    testTimeout: 600_000,
    hookTimeout: 600_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'embedded',
          include: ['test/**/*.test.ts'],
          exclude: [...IN_OWN_PROCESS, LONG, ...FURTHER],
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'further',
          include: FURTHER,
          exclude: IN_OWN_PROCESS,
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'embedded-alone',
          include: IN_OWN_PROCESS,
          isolate: true,
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: [LONG, ...MORE_IN_LONG],
          testTimeout: 900_000,
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
      overHttp('remote', ON_ONE_NODE),
      overHttp('cluster', ON_SHARDS),
    ],
  },
});
