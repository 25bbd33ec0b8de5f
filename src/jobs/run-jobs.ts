/**
 * Runs jobs in order (docs/jobs.md): step by step, each step in batches, each batch in one transaction.
 * A job is deleted in the transaction that does its work, so it runs exactly once.
 */

import type { Logger } from 'pino';
import { assert } from '../core/errors.ts';
import { groupBy } from '../core/group-by.ts';
import { formatInstant, type Instant, SECOND_MS } from '../core/time.ts';
import type { Database, Transaction } from '../store/database.ts';
import { awaitStep, loadFailedJobs, nextStep, takeJobs, takeStep } from '../store/job-order.ts';
import { deleteJobs, type Job, postponeJob } from '../store/jobs.ts';

export interface JobKind {
  readonly kind: string;
  /** Most jobs per transaction. */
  readonly batchMax: number;
  /**
   * Does the work of all jobs of `batch`, in order, and writes everything through `tx`. If it throws, the
   * transaction is rolled back and the jobs are retried one by one.
   */
  run(tx: Transaction, batch: readonly Job[]): Promise<void>;
}

export interface JobCounts {
  readonly done: number;
  readonly failed: number;
}

export interface JobRun extends JobCounts {
  /** False if another transaction held jobs for too long, or the runner was closed. */
  readonly isComplete: boolean;
}

export interface RunDeps {
  readonly db: Database;
  readonly log: Logger;
  /** By rank: of jobs of one instant, those of an earlier kind come first. */
  readonly kinds: readonly JobKind[];
  isClosed(): boolean;
  /** Called with the numbers of completed and failed jobs. */
  count(kind: string, counts: JobCounts): void;
}

/** Another process may hold a batch for longer; callers then try again. */
const STEP_WAIT_MS = 5 * SECOND_MS;

/** Runs all jobs that are due at `dueAt` and have not failed, including jobs that they queue. */
export async function runSteps(deps: RunDeps, dueAt: Instant): Promise<JobRun> {
  const kinds = deps.kinds.map(({ kind }) => kind);
  let total = NONE;
  while (!deps.isClosed()) {
    const step = await nextStep(deps.db, kinds, dueAt);
    if (step === null) return { ...total, isComplete: true };
    const kind = kindOf(deps, step.kind);
    const batch = await runBatch(deps, kind, (tx) => takeStep(tx, kinds, step, kind.batchMax));
    total = sumOf(total, batch);
    if (batch !== NONE) continue;
    // Other processes hold the rest of the step, and later steps must not start before it ends.
    if (!(await awaitStep(deps.db, kinds, step, STEP_WAIT_MS))) break;
  }
  return { ...total, isComplete: false };
}

/** Most failed jobs retried per pass; the next pass continues. */
const RETRIES_PER_PASS_MAX = 1_000;

/** Retries failed jobs whose retry delay ends by `retryBy`, an instant of real time; null: all. */
export async function runFailed(deps: RunDeps, dueAt: Instant, retryBy: Instant | null): Promise<JobCounts> {
  const kinds = deps.kinds.map(({ kind }) => kind);
  const failed = await loadFailedJobs(deps.db, kinds, { dueAt, retryBy, limit: RETRIES_PER_PASS_MAX });
  let total = NONE;
  for (const [name, jobs] of groupBy(failed, ({ kind }) => kind)) {
    const kind = kindOf(deps, name);
    for (let from = 0; from < jobs.length && !deps.isClosed(); from += kind.batchMax) {
      const ids = jobs.slice(from, from + kind.batchMax).map(({ id }) => id);
      total = sumOf(total, await runBatch(deps, kind, (tx) => takeJobs(tx, kinds, ids)));
    }
  }
  return total;
}

/** Runs one batch in one transaction. Returns `NONE` if no job was available. */
async function runBatch(
  deps: RunDeps,
  kind: JobKind,
  take: (tx: Transaction) => Promise<Job[]>,
): Promise<JobCounts> {
  let taken: readonly Job[] = [];
  try {
    await deps.db.transaction(async (tx) => {
      taken = await take(tx);
      if (taken.length === 0) return;
      // Deleted first, so that the work may queue the same job again for a later instant.
      await deleteJobs(
        tx,
        taken.map(({ id }) => id),
      );
      await kind.run(tx, taken);
    });
  } catch (error) {
    const [first, ...others] = taken;
    if (first === undefined) throw error;
    return others.length === 0 ? postpone(deps, first, error) : runOneByOne(deps, kind, taken);
  }
  if (taken.length === 0) return NONE;
  const counts = { done: taken.length, failed: 0 };
  deps.count(kind.kind, counts);
  return counts;
}

/** Runs the jobs of a failed batch at once, so that one failing job does not delay the others. */
async function runOneByOne(deps: RunDeps, kind: JobKind, jobs: readonly Job[]): Promise<JobCounts> {
  const kinds = deps.kinds.map((one) => one.kind);
  let total: JobCounts = { done: 0, failed: 0 };
  for (const { id } of jobs) {
    if (deps.isClosed()) break;
    total = sumOf(total, await runBatch(deps, kind, (tx) => takeJobs(tx, kinds, [id])));
  }
  return total;
}

async function postpone(deps: RunDeps, job: Job, error: unknown): Promise<JobCounts> {
  const { id, kind, subject, runAt, attempts } = job;
  await postponeJob(deps.db, id, { realNow: Date.now(), message: reasonOf(error) });
  deps.log.error(
    { err: error, kind, subject, run_at: formatInstant(runAt), attempts: attempts + 1 },
    'a job failed: it will be tried again, and the later jobs of its subject wait for it',
  );
  const counts = { done: 0, failed: 1 };
  deps.count(kind, counts);
  return counts;
}

/** For database errors, the message of PostgreSQL: the message around it contains the whole statement. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function kindOf({ kinds }: RunDeps, name: string): JobKind {
  const kind = kinds.find((one) => one.kind === name);
  assert(kind !== undefined, `only jobs of known kinds are taken, not of ${name}`);
  return kind;
}

const NONE: JobCounts = { done: 0, failed: 0 };

function sumOf(a: JobCounts, b: JobCounts): JobCounts {
  return { done: a.done + b.done, failed: a.failed + b.failed };
}
