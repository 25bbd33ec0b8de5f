/**
 * Parses the definitions of SQL metrics on a worker thread, and caches the results.
 *
 * Owns the thread and its limits of time and memory. A text that exceeds a limit fails for its author only: the thread
 * is terminated, the next text gets a new one, and cached definitions are served without waiting.
 */
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { invalid, Refusal } from '../../../core/errors.ts';
import { PACKAGE_ROOT } from '../../../core/package-root.ts';
import { startThread } from '../../../core/start-thread.ts';
import { type Cache, createCache } from '../../../runtime/cache.ts';
import { createSerialQueue } from '../../../runtime/serial-queue.ts';
import type { CheckedSqlMetric } from './read-metric.ts';
import type { CheckedReport } from './read-report.ts';
import type { ReadAnswer, ReadQuestion } from './reading-thread.ts';

/** A separate program (scripts/build.mjs). */
const BUILT_THREAD = join(PACKAGE_ROOT, 'dist/metering/sql/read/reading-thread.js');

/** A text that was read. */
interface ReadText {
  readonly sql: string;
}

/** A reader for texts of one kind. `sql` identifies the result. */
export interface MetricReader<Read extends ReadText = CheckedSqlMetric> {
  /**
   * Like `readSqlMetric`. Also refuses a text that exceeds a limit (`invalid`), and too many waiting texts
   * (`overloaded`).
   */
  read(sql: string): Promise<Read>;
  /** Ends the thread; a later `read` starts another. */
  close(): Promise<void>;
}

export interface ReadingLimits {
  /** For one text, from when the thread receives it. The longest accepted texts take 0.05 s. */
  readonly timeMs: number;
  readonly memoryMebibytes: number;
  /** Maximum texts that wait for the thread. */
  readonly waitingMax: number;
}

/** A metric of average length takes 10,000 characters, the longest ones some 400,000. */
const CHARACTERS_MAX = 16_000_000;

const LIMITS: ReadingLimits = { timeMs: 2_000, memoryMebibytes: 128, waitingMax: 100 };
/** Loading the modules of the thread takes 0.1 s on an idle machine. */
const START_MAX_MS = 30_000;

export function createMetricReader(
  limits: ReadingLimits = LIMITS,
  startThread: (limits: ReadingLimits) => Worker = startReadingThread,
): MetricReader {
  return createReader(
    limits,
    startThread,
    createKeptMetrics(),
    (sql) => ({ sql, isAcross: false }),
    (answer) => (answer.kind === 'metric' ? answer.metric : null),
  );
}

/** Definitions by their text. */
export function createKeptMetrics(charactersMax = CHARACTERS_MAX): Cache<string, CheckedSqlMetric> {
  return createCache({ name: 'SQL texts', sizeMax: charactersMax, sizeOf });
}

function sizeOf({ sql, query: { whole, windows, hours } }: CheckedSqlMetric): number {
  return [sql, whole.from, windows.from, hours.from].reduce((sum, { length }) => sum + length, 0);
}

/** Parses queries across customers, on a separate thread; they are seldom repeated, so nothing is cached. */
export function createReportReader(limits: ReadingLimits = LIMITS): MetricReader<CheckedReport> {
  const nothing = createCache<string, CheckedReport>({ name: 'SQL reports', sizeMax: 0 });
  return createReader(
    limits,
    startReadingThread,
    nothing,
    (sql) => ({ sql, isAcross: true }),
    (answer) => (answer.kind === 'report' ? answer.report : null),
  );
}

function createReader<Read extends ReadText>(
  limits: ReadingLimits,
  startThread: (limits: ReadingLimits) => Worker,
  kept: Cache<string, Read>,
  question: (sql: string) => ReadQuestion,
  readOf: (answer: ReadAnswer) => Read | null,
): MetricReader<Read> {
  const waiting = new Map<string, Promise<Read>>();
  let thread: Promise<Worker> | null = null;
  const reads = createSerialQueue('SQL texts');

  const end = async () => {
    const ending = thread;
    thread = null;
    await ending?.then(
      (worker) => worker.terminate(),
      () => undefined,
    );
  };
  const start = (): Promise<Worker> => {
    const worker = startThread(limits);
    const started = untilReady(worker);
    // Also for a thread that ends by itself while nothing waits for it.
    worker
      .on('error', () => undefined)
      .once('exit', () => {
        if (thread === started) thread = null;
      });
    return started;
  };
  const readOnThread = async (sql: string): Promise<Read> => {
    try {
      thread ??= start();
      const answer = await ask(await thread, question(sql), limits);
      const read = readOf(answer);
      if (read !== null) return read;
      throw answer.kind === 'refused' ? invalid(['sql'], answer.problem) : faultOf(answer);
    } catch (error) {
      if (!(error instanceof Refusal)) await end();
      throw error instanceof LimitMet ? invalid(['sql'], error.message) : error;
    }
  };
  const readNext = async (sql: string): Promise<Read> => {
    try {
      const metric = await reads.run(() => readOnThread(sql));
      kept.set(sql, metric);
      return metric;
    } finally {
      waiting.delete(sql);
    }
  };

  return {
    read: async (sql) => {
      const known = kept.get(sql) ?? waiting.get(sql);
      if (known !== undefined) return await known;
      if (waiting.size >= limits.waitingMax) {
        throw new Refusal('overloaded', 'too many queries wait to be read, try again later');
      }
      const metric = readNext(sql);
      waiting.set(sql, metric);
      return await metric;
    },
    async close() {
      kept.close();
      await end();
    },
  };
}

/** A limit that ended the thread. */
class LimitMet extends Error {}

function faultOf(answer: ReadAnswer): Error {
  return new Error(`a query could not be read: ${answer.kind === 'failed' ? answer.reason : answer.kind}`);
}

function startReadingThread({ memoryMebibytes }: ReadingLimits): Worker {
  const files = { built: BUILT_THREAD, source: join(import.meta.dirname, 'reading-thread.ts') };
  return startThread(import.meta.url, files, {
    resourceLimits: { maxOldGenerationSizeMb: memoryMebibytes },
  });
}

async function untilReady(worker: Worker): Promise<Worker> {
  const answer = await answerOf(worker, START_MAX_MS, 'the thread that reads queries does not start');
  if (answer.kind !== 'ready') throw faultOf(answer);
  return worker;
}

async function ask(worker: Worker, question: ReadQuestion, { timeMs }: ReadingLimits): Promise<ReadAnswer> {
  const answer = answerOf(worker, timeMs, `the query takes longer than ${timeMs / 1_000} s to read`);
  worker.postMessage(question);
  return await answer;
}

async function answerOf(worker: Worker, timeMs: number, tooLate: string): Promise<ReadAnswer> {
  return await new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      worker.off('message', onAnswer).off('error', onError).off('exit', onExit);
    };
    const fail = (error: Error) => {
      stop();
      reject(error);
    };
    const onAnswer = (answer: ReadAnswer) => {
      stop();
      resolve(answer);
    };
    const onError = (error: Error) => fail(isOutOfMemory(error) ? new LimitMet(TOO_LARGE) : error);
    const onExit = () => fail(new Error('the thread that reads queries has ended'));
    // If this thread was busy until now, an answer that has already arrived is processed first.
    const timer = setTimeout(() => setImmediate(() => fail(new LimitMet(tooLate))), timeMs);
    worker.on('message', onAnswer).on('error', onError).on('exit', onExit);
  });
}

const TOO_LARGE = 'the query needs too much memory to read';

function isOutOfMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
