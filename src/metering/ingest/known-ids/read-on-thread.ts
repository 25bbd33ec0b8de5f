/**
 * Reads pages of known ids on a separate thread, which is replaced if it ends. A thread keeps the process alive only
 * during a read.
 */
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { PACKAGE_ROOT } from '../../../core/package-root.ts';
import { startThread } from '../../../core/start-thread.ts';
import type { PageReads, PagesRead } from './page-reads.ts';
import type { PagesAnswer, PagesQuestion } from './reading-thread.ts';

/** A separate program (scripts/build.mjs). */
const BUILT = join(PACKAGE_ROOT, 'dist/metering/ingest/known-ids/reading-thread.js');

interface Asked {
  resolve(read: PagesRead): void;
  reject(reason: unknown): void;
}

class ReadingThread {
  readonly #worker: Worker;
  readonly #asked = new Map<number, Asked>();
  #next = 0;
  #ended: Error | null = null;

  constructor() {
    const source = join(import.meta.dirname, 'reading-thread.ts');
    this.#worker = startThread(import.meta.url, { built: BUILT, source }, {});
    this.#worker
      .on('message', ({ number, read }: PagesAnswer) => this.#take(number)?.resolve(read))
      .on('error', (error) => this.#end(error))
      .on('exit', () => this.#end(new Error('the thread that reads known ids has ended')));
    // Called again, because a listener would keep the process alive otherwise.
    this.#worker.unref();
  }

  get isOver(): boolean {
    return this.#ended !== null;
  }

  read(reads: PageReads): Promise<PagesRead> {
    return new Promise((resolve, reject) => {
      const number = this.#next;
      this.#next += 1;
      this.#asked.set(number, { resolve, reject });
      this.#worker.ref();
      const question: PagesQuestion = { number, reads };
      this.#worker.postMessage(question);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #take(number: number): Asked | undefined {
    const asked = this.#asked.get(number);
    this.#asked.delete(number);
    if (this.#asked.size === 0) this.#worker.unref();
    return asked;
  }

  #end(reason: unknown): void {
    this.#ended ??= reason instanceof Error ? reason : new Error(String(reason));
    for (const number of [...this.#asked.keys()]) this.#take(number)?.reject(this.#ended);
  }
}

export interface PageReader {
  /** Starts the thread, so that the first lookup does not wait for it. */
  start(): void;
  /** Rejects if the thread ended before its answer; the next call starts another one. */
  read(reads: PageReads): Promise<PagesRead>;
  /** Ends the thread; reads in progress are rejected. */
  close(): Promise<void>;
}

/** The thread starts with the first read, or with `start`. */
export function createPageReader(): PageReader {
  let thread: ReadingThread | null = null;
  const running = (): ReadingThread => {
    if (thread === null || thread.isOver) thread = new ReadingThread();
    return thread;
  };
  return {
    start: () => void running(),
    read: (reads) => running().read(reads),
    close: async () => await thread?.close(),
  };
}
