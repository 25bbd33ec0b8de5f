/** Runs jobs in order (docs/explanation/jobs.md): step by step, each step in batches. */

import { assert } from '../core/errors.ts';
import { groupBy } from '../core/group-by.ts';
import { type Instant, SECOND_MS } from '../core/time.ts';
import { inTurns } from '../runtime/turns.ts';
import { CLAIM_MS, claimJobs, claimStep } from '../store/jobs/job-claims.ts';
import { awaitStep, loadFailedJobs, nextStep, type Step } from '../store/jobs/job-order.ts';
import type { JobKind } from './job-kind.ts';
import { type BatchRunner, type JobCounts, NONE, runBatch, sumOf } from './run-batch.ts';

export interface JobRun extends JobCounts {
  /** False if another process worked on a step for too long, or the runner was closed. */
  readonly isComplete: boolean;
}

/** Long enough for the claim of a killed process to expire. A batch may take longer; callers then retry. */
const STEP_WAIT_MS = CLAIM_MS + 2 * SECOND_MS;

export interface StepRunner extends Omit<BatchRunner, 'claimant' | 'inTurn'> {
  /** One for each concurrent batch. */
  readonly claimants: readonly string[];
}

/** Runs all jobs that are due at `dueAt` and have not failed, including jobs that they queue. */
export async function runSteps(context: StepRunner, dueAt: Instant): Promise<JobRun> {
  const kinds = context.kinds.map(({ kind }) => kind);
  let total = NONE;
  while (!context.isClosed()) {
    const step = await nextStep(context.db, kinds, dueAt);
    if (step === null) return { ...total, isComplete: true };
    const counts = await runStep(context, step, dueAt);
    total = sumOf(total, counts);
    if (counts !== NONE) continue;
    // Other processes hold the rest of the step, and later steps must not start before it ends.
    const [claimant = ''] = context.claimants;
    if (!(await awaitStep(context.db, kinds, step, { claimant, timeoutMs: STEP_WAIT_MS }))) break;
  }
  return { ...total, isComplete: false };
}

/** Ends when no job of the step is free, or an earlier one is due. Returns `NONE` if none was free. */
async function runStep(context: StepRunner, step: Step, dueAt: Instant): Promise<JobCounts> {
  const inTurn = inTurns();
  const claimants = context.claimants.slice(0, kindOf(context, step.kind).batchesAtOnce ?? 1);
  const ended = await Promise.allSettled(
    claimants.map((claimant) => runBatches({ ...context, claimant, inTurn }, step, dueAt)),
  );
  let total = NONE;
  for (const one of ended) {
    if (one.status === 'rejected') throw one.reason;
    if (one.value !== NONE) total = sumOf(total, one.value);
  }
  return total;
}

/** `runStep` with sequential batches. */
async function runBatches(context: BatchRunner, step: Step, dueAt: Instant): Promise<JobCounts> {
  const { claimant } = context;
  const kinds = context.kinds.map(({ kind }) => kind);
  const kind = kindOf(context, step.kind);
  let total = NONE;
  for (;;) {
    const batch = await runBatch(context, kind, () =>
      claimStep(context.db, kinds, step, { claimant, limit: kind.batchMax }),
    );
    if (batch === NONE) return total;
    total = sumOf(total, batch);
    if (context.isClosed()) return total;
    const next = await nextStep(context.db, kinds, dueAt);
    if (next?.kind !== step.kind || next.runAt !== step.runAt) return total;
  }
}

/** Maximum failed jobs retried per pass; the next pass continues. */
const RETRIES_PER_PASS_MAX = 1_000;

/** Retries failed jobs whose retry delay ends by `retryBy`, an instant of real time; null: all. */
export async function runFailed(
  context: BatchRunner,
  dueAt: Instant,
  retryBy: Instant | null,
): Promise<JobCounts> {
  const { claimant } = context;
  const kinds = context.kinds.map(({ kind }) => kind);
  const failed = await loadFailedJobs(context.db, kinds, { dueAt, retryBy, limit: RETRIES_PER_PASS_MAX });
  let total = NONE;
  for (const [name, jobs] of groupBy(failed, ({ kind }) => kind)) {
    const kind = kindOf(context, name);
    for (let from = 0; from < jobs.length && !context.isClosed(); from += kind.batchMax) {
      const ids = jobs.slice(from, from + kind.batchMax).map(({ id }) => id);
      const retried = await runBatch(context, kind, () => claimJobs(context.db, kinds, { claimant, ids }));
      total = sumOf(total, retried);
    }
  }
  return total;
}

function kindOf({ kinds }: Pick<BatchRunner, 'kinds'>, name: string): JobKind {
  const kind = kinds.find((one) => one.kind === name);
  assert(kind !== undefined, `only jobs of known kinds are taken, not of ${name}`);
  return kind;
}
