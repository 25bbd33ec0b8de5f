/** The thread that merges runs: it does the work passed at its start and reports the new run. */
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../../core/errors.ts';
import { mergeRuns } from './merge-runs.ts';
import { openRun, type RunSummary } from './run.ts';

export interface Merge {
  readonly directory: string;
  /** Neighbours, in order. */
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
// A failure ends the thread, which reports it.
void merge(workerData).then((run) => port.postMessage(run));
