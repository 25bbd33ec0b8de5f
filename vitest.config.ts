import { defineConfig } from 'vitest/config';

/**
 * Files whose guarantees must not depend on how ClickHouse is reached. They run on the embedded engine like
 * all others, and again over HTTP: on one node, or on two shards behind Distributed tables, which is where
 * the numbers themselves could differ and so the place to repeat the laws.
 */
const ON_ANY_CLICKHOUSE = [
  'test/integration/{usage,event,repeat,ingest,backfill,dedup,sql}*.test.ts',
  'test/integration/invoice-road.test.ts',
];
/** Starts a node of its own where it is not told to start a cluster, so the embedded run has done this one. */
const ONE_NODE_ANYWAY = 'test/integration/dedup-two-services.test.ts';
const ON_ONE_NODE = [...ON_ANY_CLICKHOUSE, 'test/integration/clickhouse-statements.test.ts'];
const ON_SHARDS = [...ON_ANY_CLICKHOUSE, 'test/property/{usage,sql}*.test.ts'];

/** They open an engine on a directory of their own, which binds the process, or change the process itself. */
const IN_OWN_PROCESS = [
  'test/integration/clickhouse-embedded.test.ts',
  'test/integration/clickhouse-remote-files.test.ts',
];

/** Tests that take minutes each; `npm run test:long` runs them, and tries the properties more often. */
const LONG = 'test/long/*.test.ts';
const PROPERTIES = 'test/property/*.test.ts';

const overHttp = (name: string, include: string[], exclude: string[] = []) => ({
  extends: true as const,
  test: {
    name,
    include,
    exclude,
    globalSetup: ['test/support/global-setup.ts', 'test/support/remote-setup.ts'],
  },
});

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    // Importing the service costs more than most files do with it: files share a process, one after the other.
    isolate: false,
    expect: { requireAssertions: true },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'embedded',
          include: ['test/**/*.test.ts'],
          exclude: [...IN_OWN_PROCESS, LONG],
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
          include: [LONG, PROPERTIES],
          testTimeout: 900_000,
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
      overHttp('remote', ON_ONE_NODE, [ONE_NODE_ANYWAY]),
      overHttp('cluster', ON_SHARDS),
    ],
  },
});
