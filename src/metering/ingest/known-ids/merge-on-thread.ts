/** Merges runs without blocking the event loop: a merge takes half a microsecond for each id. */
import { once } from 'node:events';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../../core/package-root.ts';
import { startThread } from '../../../core/start-thread.ts';
import { mergeRuns } from './merge-runs.ts';
import type { Merge } from './merging-thread.ts';
import { openRun, type Run, type RunSummary } from './run.ts';

/** A separate program (scripts/build.mjs). */
const BUILT = join(PACKAGE_ROOT, 'dist/metering/ingest/known-ids/merging-thread.js');
/** Fewer ids take less time than starting a thread. */
const IDS_MIN = 200_000;

export interface MergeOptions {
  readonly directory: string;
  readonly oldestSeconds: number;
  /** Aborts the merge; its files are removed at the next start. */
  readonly signal: AbortSignal;
  readonly idsMin?: number;
}

/** `mergeRuns`, on a thread if there are many ids. */
export async function mergeOnThread(
  runs: readonly Run[],
  { directory, oldestSeconds, signal, idsMin = IDS_MIN }: MergeOptions,
): Promise<Run> {
  const ids = runs.reduce((sum, run) => sum + run.ids, 0);
  if (ids < idsMin) return await mergeRuns(runs, directory, oldestSeconds);
  const summaries = runs.map(({ name, from, to, ids: own }) => ({ name, from, to, ids: own }));
  const workerData: Merge = { directory, runs: summaries, oldestSeconds };
  const source = join(import.meta.dirname, 'merging-thread.ts');
  const worker = startThread(import.meta.url, { built: BUILT, source }, { workerData });
  try {
    const ended = once(worker, 'exit', { signal }).then(() => {
      throw new Error('the thread that merges known ids has ended');
    });
    const [summary] = (await Promise.race([once(worker, 'message', { signal }), ended])) as [RunSummary];
    return await openRun(directory, summary);
  } finally {
    await worker.terminate();
  }
}
