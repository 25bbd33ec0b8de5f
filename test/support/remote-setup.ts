/**
 * Once per run of a project that reaches ClickHouse over HTTP: the front, in a separate process.
 */
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { TestProject } from 'vitest/node';
import { startFrontProcess } from './front-process.ts';
import { makeStoreDirectory } from './store-directory.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where ClickHouse answers over HTTP; not there in the project that embeds it. */
    clickhouse: { readonly port: number; readonly cluster: string | undefined };
  }
}

/** Name of the cluster that the project of this name plays. */
const CLUSTER = 'cluster';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await makeStoreDirectory(tmpdir());
  const cluster = project.name === CLUSTER ? CLUSTER : undefined;
  const front = await startFrontProcess({ directory, port: 0, cluster });
  project.provide('clickhouse', { port: front.port, cluster });
  return async () => {
    await front.stop();
    await rm(directory, { recursive: true, force: true, maxRetries: 20 });
  };
}
