/** Starts worker threads, from the build or from source. */
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** Both files of a thread: the output of scripts/build.mjs, and its source. */
interface ThreadFiles {
  readonly built: string;
  readonly source: string;
}

/** Starts a thread in the same form (built or source) as the module with this URL. It never keeps the process alive. */
export function startThread(url: string, { built, source }: ThreadFiles, options: WorkerOptions): Worker {
  // Options of the process apply to its main program only.
  const own = { execArgv: [], ...options };
  const worker =
    extname(url) === '.ts'
      ? new Worker(sourceLoader(source), { ...own, eval: true })
      : new Worker(built, own);
  worker.unref();
  return worker;
}

/** Node 20 does not run TypeScript, and the loader of the development tools is not passed on to threads. */
function sourceLoader(path: string): string {
  const loader = createRequire(import.meta.url).resolve('tsx/cjs');
  return `require(${JSON.stringify(loader)}); require(${JSON.stringify(path)});`;
}
