/**
 * Runs due jobs in the order of their due times (docs/explanation/jobs.md). Any number of processes may run it on one
 * database.
 *
 * Owns: polling, the figures. The order is in run-jobs.ts, a batch in run-batch.ts, the work of a job in its kind.
 * Failed jobs are retried concurrently, so that retries do not delay other jobs.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { formatInstant, type Instant, SECOND_MS } from '../core/time.ts';
import { createPoll } from '../runtime/poll.ts';
import { createSerialQueue } from '../runtime/serial-queue.ts';
import { pollDue } from '../store/base/due-watch.ts';
import { loadQueueFigures, type QueueFigures } from '../store/jobs/job-figures.ts';
import { hasDueJob, hasDueRetry, loadFailedJobs, nextStep } from '../store/jobs/job-order.ts';
import type { JobKind } from './job-kind.ts';
import type { JobsContext } from './jobs-context.ts';
import type { BatchRunner, JobCounts } from './run-batch.ts';
import { type JobRun, runFailed, runSteps } from './run-jobs.ts';

export interface JobStats {
  /** Since the start, for every kind. */
  readonly counts: ReadonlyMap<string, JobCounts>;
  /** When a job of the kind last completed, in real time; kinds without any since the start are absent. */
  readonly lastDoneAt: ReadonlyMap<string, Instant>;
  /** As of the last read, a few seconds ago. */
  readonly queue: readonly QueueFigures[];
  /** Due time of the oldest job that can run now; null if there is none. */
  readonly oldestDue: Instant | null;
}

export interface JobRunner {
  /** Runs all jobs due at `dueAt`, including jobs that this work queues. One run at a time. */
  runDue(dueAt: Instant): Promise<JobRun>;
  /** Retries all failed jobs due at `dueAt` once, without waiting for their retry delay. */
  retryFailed(dueAt: Instant): Promise<JobCounts>;
  /** Due time of the next job that neither failed nor waits for a failed one; null if there is none. */
  nextAt(): Promise<Instant | null>;
  /** Logs the remaining failed jobs among those due at `dueAt`, if there are any. */
  logFailed(dueAt: Instant): Promise<void>;
  /** While true, no job runs. */
  isPaused(): boolean;
  stats(): JobStats;
  /** Reads the figures of the queue for `stats`. */
  readFigures(): Promise<void>;
  /** Starts polling. */
  start(): void;
  /** Stops polling and waits for the work in progress. */
  close(): Promise<void>;
}

/** On an idle system, the longest delay from a job's due time to its start. */
const POLL_INTERVAL_MS = SECOND_MS;
/** Reading the figures scans the queue. */
const FIGURES_INTERVAL_MS = 10 * SECOND_MS;
/** On an idle system a job is done within seconds. */
const OVERDUE_MS = 10 * 60 * SECOND_MS;
/** Keeps the log record readable. */
const FAILED_JOBS_LOGGED_MAX = 20;

type RunnerContext = Pick<JobsContext, 'db' | 'dueWatch' | 'clock' | 'log' | 'tracer' | 'ping' | 'isPaused'>;

/** `kinds` by rank: among jobs of one instant, those of an earlier kind run first. */
export function createJobRunner(context: RunnerContext, kinds: readonly JobKind[]): JobRunner {
  const { db, dueWatch, clock, log, tracer, ping, isPaused } = context;
  const names = kinds.map(({ kind }) => kind);
  const figures = createJobFigures(context, names);
  let closed = false;
  const runner: Omit<BatchRunner, 'claimant'> = {
    ...{ db, clock, log, tracer, kinds },
    isClosed: () => closed || isPaused(),
    storesAnswer: () => answersInTime(ping),
    count: figures.count,
  };
  const batchesAtOnce = Math.max(...kinds.map((kind) => kind.batchesAtOnce ?? 1));
  const claimants = Array.from({ length: batchesAtOnce }, () => randomUUID());
  const retrier = { ...runner, claimant: randomUUID() };
  const steps = createSerialQueue('jobs');
  const retries = createSerialQueue('failed jobs');
  const runDue = (dueAt: Instant) => steps.run(() => runSteps({ ...runner, claimants }, dueAt));
  const runRetries = (dueAt: Instant, retryBy: Instant | null) =>
    retries.run(() => runFailed(retrier, dueAt, retryBy));
  const onFailure = (err: unknown) => log.error({ err }, 'jobs cannot run now: they will be tried again');
  const polls = [
    pollDue(dueWatch, {
      ...{ name: 'jobs', intervalMs: POLL_INTERVAL_MS, onFailure },
      isDue: () => hasDueJob(names, clock.now()),
      work: () => runDue(clock.now()),
    }),
    pollDue(dueWatch, {
      ...{ name: 'failed jobs', intervalMs: POLL_INTERVAL_MS, onFailure },
      isDue: () => hasDueRetry(clock.now(), Date.now()),
      work: () => runRetries(clock.now(), Date.now()),
    }),
    createPoll({ name: 'figures of jobs', intervalMs: FIGURES_INTERVAL_MS, work: figures.read, onFailure }),
  ];
  return {
    runDue,
    retryFailed: (dueAt) => runRetries(dueAt, null),
    nextAt: async () => (await nextStep(db, names, null))?.runAt ?? null,
    logFailed: (dueAt) => logFailed(context, names, dueAt),
    isPaused,
    stats: figures.stats,
    readFigures: figures.read,
    start: () => {
      for (const poll of polls) poll.start();
    },
    async close() {
      closed = true;
      await Promise.all(polls.map((poll) => poll.close()));
      await Promise.all([steps.close(), retries.close()]);
    },
  };
}

/** The jobs completed since the start, and the queue as of the last read. */
function createJobFigures({ db, clock }: RunnerContext, names: readonly string[]) {
  const counts = new Map(names.map((name): [string, JobCounts] => [name, { done: 0, failed: 0 }]));
  const lastDoneAt = new Map<string, Instant>();
  let queue: readonly QueueFigures[] = [];
  let oldestDue: Instant | null = null;
  return {
    stats: (): JobStats => ({ counts, lastDoneAt, queue, oldestDue }),
    count(kind: string, { done, failed }: JobCounts) {
      const before = counts.get(kind) ?? { done: 0, failed: 0 };
      counts.set(kind, { done: before.done + done, failed: before.failed + failed });
      if (done > 0) lastDoneAt.set(kind, Date.now());
    },
    async read() {
      const now = clock.now();
      queue = await loadQueueFigures(db, now, now - OVERDUE_MS);
      oldestDue = (await nextStep(db, names, now))?.runAt ?? null;
    },
  };
}

async function logFailed(
  { db, log }: RunnerContext,
  names: readonly string[],
  dueAt: Instant,
): Promise<void> {
  const limit = FAILED_JOBS_LOGGED_MAX;
  const failed = await loadFailedJobs(db, names, { dueAt, retryBy: null, limit });
  if (failed.length === 0) return;
  const jobs = failed.map(({ kind, subject, runAt, attempts, lastError: error }) => {
    return { kind, subject, run_at: formatInstant(runAt), attempts, error };
  });
  log.warn({ jobs }, 'failed jobs are left, and the later jobs of their subjects wait for them');
}

/** A store that takes longer to respond counts as unavailable. */
const PING_WAIT_MS = 5 * SECOND_MS;

async function answersInTime(ping: () => Promise<unknown>): Promise<boolean> {
  const answer = ping().then(
    () => true,
    () => false,
  );
  return Promise.race([answer, pause(PING_WAIT_MS, false, { ref: false })]);
}
