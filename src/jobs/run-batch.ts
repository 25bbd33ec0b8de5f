/**
 * Runs one batch of jobs (docs/explanation/jobs.md): claims them, prepares their work without a transaction, and does
 * it in one transaction, which deletes the jobs. So a job is done exactly once.
 */
import { Refusal } from '../core/errors.ts';
import { failureMessage } from '../core/failures.ts';
import { formatInstant } from '../core/time.ts';
import { createPoll, ignoreFailure } from '../runtime/poll.ts';
import { atOnce, type InTurn } from '../runtime/turns.ts';
import { recordSystemChanges } from '../store/access/system-changes.ts';
import { CLAIM_MS, releaseClaim, renewClaim, takeClaimed } from '../store/jobs/job-claims.ts';
import { deleteJobs, type Job, postponeJob } from '../store/jobs/jobs.ts';
import type { JobKind, PreparedJobs } from './job-kind.ts';
import type { JobsContext } from './jobs-context.ts';

export interface JobCounts {
  readonly done: number;
  readonly failed: number;
}

/** Runs batches, one after another. */
export interface BatchRunner extends Pick<JobsContext, 'db' | 'clock' | 'log' | 'tracer'> {
  /** The claimant of these runs, which follow one another: the rest of an earlier claim is free for a later one. */
  readonly claimant: string;
  /** By rank: among jobs of one instant, those of an earlier kind run first. */
  readonly kinds: readonly JobKind[];
  /** Given to preparations (`JobKind.prepare`). Default: at once. */
  readonly inTurn?: InTurn;
  isClosed(): boolean;
  /** Called with the numbers of completed and failed jobs. */
  count(kind: string, counts: JobCounts): void;
  /** Whether the stores respond. If not, the jobs are not to blame. */
  storesAnswer(): Promise<boolean>;
}

/** Claims the jobs of the batch, and returns them in their order. */
type Claim = () => Promise<readonly Job[]>;

interface Batch {
  readonly context: BatchRunner;
  readonly kind: JobKind;
}

/**
 * Returns `NONE` if no job was available. Throws `unavailable` if a store does not respond: the jobs then stay as they
 * are.
 */
export async function runBatch(context: BatchRunner, kind: JobKind, claim: Claim): Promise<JobCounts> {
  const { claimant } = context;
  const jobs = await claim();
  if (jobs.length === 0) return NONE;
  const renewal = createPoll({
    name: 'claims of jobs',
    intervalMs: CLAIM_MS / 4,
    work: () => renewClaim(context.db, claimant),
    onFailure: ignoreFailure,
  });
  renewal.start();
  try {
    return await workOn({ context, kind }, jobs, 1);
  } finally {
    await renewal.close();
    // A claim that cannot be released expires.
    await releaseClaim(context.db, claimant).catch(() => undefined);
  }
}

/** The maximum consecutive preparations of a job whose input keeps changing. */
const PREPARATIONS_MAX = 5;
/** A smaller batch takes less time to prepare, so fewer changes interfere. */
const SECOND_BATCH_MAX = 25;

async function workOn(batch: Batch, jobs: readonly Job[], preparation: number): Promise<JobCounts> {
  const { context, kind } = batch;
  let outcome: Outcome;
  try {
    outcome = await prepareAndWrite(batch, jobs);
  } catch (error) {
    return afterFailure(batch, jobs, error, preparation);
  }
  let total: JobCounts = { done: outcome.done, failed: 0 };
  context.count(kind.kind, total);
  const size = preparation === 1 && jobs.length > SECOND_BATCH_MAX ? SECOND_BATCH_MAX : 1;
  for (const again of chunksOf(outcome.changed, size)) {
    if (context.isClosed()) break;
    total = sumOf(total, await prepareAgain(batch, again, preparation + 1));
  }
  return total;
}

async function prepareAgain(batch: Batch, jobs: readonly Job[], preparation: number): Promise<JobCounts> {
  const [first, ...others] = jobs;
  if (preparation <= PREPARATIONS_MAX || first === undefined || others.length > 0) {
    return workOn(batch, jobs, preparation);
  }
  const error = new Error(`what it is computed from has changed ${PREPARATIONS_MAX} times meanwhile`);
  return postpone(batch, first, error);
}

interface Outcome {
  readonly done: number;
  /** Jobs to be prepared again. */
  readonly changed: readonly Job[];
}

async function prepareAndWrite({ context, kind }: Batch, jobs: readonly Job[]): Promise<Outcome> {
  const { tracer } = context;
  const facts = { 'tallyhouse.jobs': jobs.length };
  return await tracer.trace(`job ${kind.kind}`, { kind: 'internal', facts }, async () => {
    const prepared = await tracer.step('prepare', {}, () => kind.prepare(jobs, context.inTurn ?? atOnce));
    const outcome = await tracer.step('write', {}, () => write({ context, kind }, jobs, prepared));
    if (outcome.done > 0) prepared.committed?.();
    return outcome;
  });
}

async function write(
  { context, kind }: Batch,
  jobs: readonly Job[],
  prepared: PreparedJobs,
): Promise<Outcome> {
  const kinds = context.kinds.map((one) => one.kind);
  return await context.db.transaction(async (tx): Promise<Outcome> => {
    const taken = await takeClaimed(tx, kinds, { claimant: context.claimant, ids: jobs.map(({ id }) => id) });
    const valid = inSubjectOrder(taken, await prepared.stillValid(tx, taken));
    // Deleted first, so that the work may queue the same job again for a later instant.
    await deleteJobs(
      tx,
      valid.map(({ id }) => id),
    );
    // Another process may have done all of them in the meantime.
    if (valid.length > 0) {
      await prepared.write(tx, valid);
      const actor = { kind: 'job', name: kind.kind } as const;
      await recordSystemChanges(tx, actor, context.clock.now(), prepared.changes?.() ?? []);
    }
    return { done: valid.length, changed: taken.filter((job) => !valid.includes(job)) };
  });
}

/** The valid jobs that have no earlier invalid job of their subject. */
function inSubjectOrder(taken: readonly Job[], valid: readonly Job[]): Job[] {
  const waiting = new Set<string>();
  return taken.filter((job) => {
    const isNext = job.subject === null || !waiting.has(job.subject);
    if (isNext && valid.includes(job)) return true;
    if (job.subject !== null) waiting.add(job.subject);
    return false;
  });
}

/** Runs the jobs of a failed batch one by one, so that one failing job does not delay the others. */
async function afterFailure(
  batch: Batch,
  jobs: readonly Job[],
  error: unknown,
  preparation: number,
): Promise<JobCounts> {
  const { context } = batch;
  // The service is stopping, and has cancelled what the work was waiting for: the jobs are unchanged.
  if (context.isClosed()) return NONE;
  if (!(await context.storesAnswer())) {
    context.log.warn({ err: error, kind: batch.kind.kind, jobs: jobs.length }, 'a store does not answer');
    throw new Refusal('unavailable', 'a store does not answer: try again later');
  }
  const [first, ...others] = jobs;
  if (first !== undefined && others.length === 0) return postpone(batch, first, error);
  let total: JobCounts = { done: 0, failed: 0 };
  for (const job of jobs) {
    if (context.isClosed()) break;
    total = sumOf(total, await workOn(batch, [job], preparation));
  }
  return total;
}

async function postpone({ context, kind }: Batch, job: Job, error: unknown): Promise<JobCounts> {
  const { id, subject, runAt, attempts } = job;
  await postponeJob(context.db, id, { realNow: Date.now(), message: reasonOf(error) });
  context.log.error(
    { err: error, kind: kind.kind, subject, run_at: formatInstant(runAt), attempts: attempts + 1 },
    'a job failed: it will be tried again, and the later jobs of its subject wait for it',
  );
  const counts = { done: 0, failed: 1 };
  context.count(kind.kind, counts);
  return counts;
}

/** For database errors, the message of PostgreSQL: the message around it contains the whole statement. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return failureMessage(error.cause instanceof Error ? error.cause : error);
}

function chunksOf(jobs: readonly Job[], size: number): (readonly Job[])[] {
  return Array.from({ length: Math.ceil(jobs.length / size) }, (_, index) =>
    jobs.slice(index * size, (index + 1) * size),
  );
}

export const NONE: JobCounts = { done: 0, failed: 0 };

export function sumOf(a: JobCounts, b: JobCounts): JobCounts {
  return { done: a.done + b.done, failed: a.failed + b.failed };
}
