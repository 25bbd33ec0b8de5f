/**
 * Runs what falls due, in the order of the instants (docs/jobs.md). Any number of processes may run it on
 * one database.
 *
 * Owns: polling, the figures. How jobs are taken and done is in run-jobs.ts, what a job does in its kind.
 * Jobs that have failed are tried again beside the others: however long that takes, it holds up nobody.
 */

import type { Logger } from 'pino';
import type { Clock } from '../core/clock.ts';
import { formatInstant, type Instant, SECOND_MS } from '../core/time.ts';
import type { Database } from '../store/database.ts';
import { loadQueueFigures, type QueueFigures } from '../store/job-figures.ts';
import { loadFailedJobs, nextStep } from '../store/job-order.ts';
import { type JobCounts, type JobKind, type JobRun, type RunDeps, runFailed, runSteps } from './run-jobs.ts';

export interface JobStats {
  /** Since the start, for every kind. */
  readonly counts: ReadonlyMap<string, JobCounts>;
  /** As of the last poll that read them, a few seconds ago. */
  readonly queue: readonly QueueFigures[];
  /** When the first of the jobs fell due that could be done now; null where there is none. */
  readonly oldestDue: Instant | null;
}

export interface JobRunner {
  /** Does everything that is due at `dueAt`, also what that work makes due. One run at a time. */
  runDue(dueAt: Instant): Promise<JobRun>;
  /** Tries all failed jobs that are due at `dueAt` once more, without waiting for the end of their pause. */
  retryFailed(dueAt: Instant): Promise<JobCounts>;
  /** When the next job falls due that neither has failed nor waits for one; null where there is none. */
  nextAt(): Promise<Instant | null>;
  /** Says in the log which failed jobs are left of those due at `dueAt`, if there are any. */
  logFailed(dueAt: Instant): Promise<void>;
  stats(): JobStats;
  /** Reads the figures of the queue, which `stats` then shows. */
  readFigures(): Promise<void>;
  /** Begins to poll. */
  start(): void;
  /** Stops polling and waits for the work in progress. */
  close(): Promise<void>;
}

/** A due job is done at the latest this long after it fell due, on an idle system. */
const POLL_INTERVAL_MS = SECOND_MS;
/** The figures of a long queue cost a scan of it. */
const FIGURES_INTERVAL_MS = 10 * SECOND_MS;
/** A log record is read by people. */
const FAILED_JOBS_LOGGED_MAX = 20;

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  /** By rank: of jobs of one instant, those of an earlier kind come first. */
  readonly kinds: readonly JobKind[];
}

export function createJobRunner({ db, clock, log, kinds }: Deps): JobRunner {
  const names = kinds.map(({ kind }) => kind);
  const counts = new Map(names.map((name): [string, JobCounts] => [name, { done: 0, failed: 0 }]));
  let queue: readonly QueueFigures[] = [];
  let oldestDue: Instant | null = null;
  let closed = false;
  const deps: RunDeps = {
    db,
    log,
    kinds,
    isClosed: () => closed,
    count: (kind, { done, failed }) => {
      const before = counts.get(kind) ?? { done: 0, failed: 0 };
      counts.set(kind, { done: before.done + done, failed: before.failed + failed });
    },
  };
  const steps = oneAfterAnother();
  const retries = oneAfterAnother();

  const runDue = (dueAt: Instant) => steps.run(() => runSteps(deps, dueAt));
  const runRetries = (dueAt: Instant, retryBy: Instant | null) =>
    retries.run(() => runFailed(deps, dueAt, retryBy));

  async function readFigures(): Promise<void> {
    const now = clock.now();
    queue = await loadQueueFigures(db, now);
    oldestDue = (await nextStep(db, names, now))?.runAt ?? null;
  }

  async function logFailed(dueAt: Instant): Promise<void> {
    const limit = FAILED_JOBS_LOGGED_MAX;
    const failed = await loadFailedJobs(db, names, { dueAt, retryBy: null, limit });
    if (failed.length === 0) return;
    const jobs = failed.map(({ kind, subject, runAt, attempts, lastError: error }) => {
      return { kind, subject, run_at: formatInstant(runAt), attempts, error };
    });
    log.warn({ jobs }, 'failed jobs are left behind, and the later jobs of their subjects wait for them');
  }

  const polls = [
    createPoll(POLL_INTERVAL_MS, () => runDue(clock.now()), log),
    createPoll(POLL_INTERVAL_MS, () => runRetries(clock.now(), Date.now()), log),
    createPoll(FIGURES_INTERVAL_MS, readFigures, log),
  ];
  return {
    runDue,
    retryFailed: (dueAt) => runRetries(dueAt, null),
    nextAt: async () => (await nextStep(db, names, null))?.runAt ?? null,
    logFailed,
    stats: () => ({ counts, queue, oldestDue }),
    readFigures,
    start: () => {
      for (const poll of polls) poll.start();
    },
    async close() {
      closed = true;
      await Promise.all(polls.map((poll) => poll.close()));
      await Promise.all([steps.last(), retries.last()]);
    },
  };
}

/** Whoever waits for a run knows that all work of the runs before is done. */
function oneAfterAnother() {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run<Result>(work: () => Promise<Result>): Promise<Result> {
      const run = last.then(work);
      last = run.catch(() => undefined);
      return run;
    },
    last: () => last,
  };
}

/** Repeats `work`, each time so long after it has ended. */
function createPoll(intervalMs: number, work: () => Promise<unknown>, log: Logger) {
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<unknown> = Promise.resolve();
  let closed = false;

  function wait(): void {
    timer = setTimeout(() => {
      working = work()
        .catch((error: unknown) => log.error({ err: error }, 'the job queue cannot be read'))
        .finally(() => {
          if (!closed) wait();
        });
    }, intervalMs);
    timer.unref();
  }

  return {
    start: wait,
    async close() {
      closed = true;
      clearTimeout(timer);
      await working;
    },
  };
}
