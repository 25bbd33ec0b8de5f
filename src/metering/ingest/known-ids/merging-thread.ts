/** The thread that merges runs: it does the work that it was started for and reports the run that it has built. */
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../../core/errors.ts';
import { mergeRuns } from './merge-runs.ts';
import { openRun, type RunSummary } from './run.ts';

export interface Merge {
  readonly directory: string;
  /** Neighbours, in their order. */
  readonly runs: readonly RunSummary[];
  readonly oldestSeconds: number;
}

async function merge({ directory, runs, oldestSeconds }: Merge): Promise<RunSummary> {
  const opened = await Promise.all(runs.map((run) => openRun(directory, run)));
  try {
    const merged = await mergeRuns(opened, directory, oldestSeconds);
    await merged.close();
    const { name, from, to, ids } = merged;
    return { name, from, to, ids };
  } finally {
    await Promise.all(opened.map((run) => run.close()));
  }
}

const port = parentPort;
assert(port !== null, 'this module runs on a separate thread');
// A failure ends the thread, which says so.
void merge(workerData).then((run) => port.postMessage(run));
