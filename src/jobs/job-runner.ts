/**
 * Runs what falls due. Any number of processes may run it on one database: a job is locked while it is
 * done and deleted in the same transaction, so it is done once.
 *
 * Owns: polling, batching, the pause after a failure. Does not own what a job does: each `JobKind` brings
 * its own work, which must write everything through the transaction it is given.
 */
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.ts';
import { type Instant, SECOND_MS } from '../core/time.ts';
import type { Database, Transaction } from '../store/database.ts';
import { deleteJobs, type Job, nextJobAt, postponeJobs, takeDueJobs } from '../store/jobs.ts';

export interface JobKind {
  readonly kind: string;
  /** How many jobs one transaction takes at most. */
  readonly batchMax: number;
  /** Does the work of all `batch`. Throwing undoes all of it; the jobs are then tried one by one. */
  run(tx: Transaction, batch: readonly Job[]): Promise<void>;
}

export interface JobRun {
  readonly done: number;
  readonly failed: number;
}

export interface JobRunner {
  /** Does everything that is due at `dueAt`, also what that work makes due. One run at a time. */
  runDue(dueAt: Instant): Promise<JobRun>;
  /** When the next job of any kind falls due; null where nothing is queued. */
  nextAt(): Promise<Instant | null>;
  /** Begins to poll. */
  start(): void;
  /** Stops polling and waits for the run in progress. */
  close(): Promise<void>;
}

/** A due job is done at the latest this long after it fell due, on an idle system. */
const POLL_INTERVAL_MS = SECOND_MS;

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly kinds: readonly JobKind[];
}

export function createJobRunner(deps: Deps): JobRunner {
  let lastRun: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  /** Runs follow one another, so that whoever waits for a run knows that all due work is done. */
  function runDue(dueAt: Instant): Promise<JobRun> {
    const run = lastRun.then(() => runAllKinds(deps, dueAt, () => closed));
    lastRun = run.catch(() => undefined);
    return run;
  }

  function poll(): void {
    timer = setTimeout(() => {
      runDue(deps.clock.now())
        .catch((error: unknown) => deps.log.error({ err: error }, 'the job queue cannot be read'))
        .finally(() => {
          if (!closed) poll();
        });
    }, POLL_INTERVAL_MS);
    timer.unref();
  }

  return {
    runDue,
    nextAt: async () => {
      const instants = await Promise.all(deps.kinds.map(({ kind }) => nextJobAt(deps.db, kind)));
      return instants.reduce<Instant | null>(
        (first, at) => (at !== null && (first === null || at < first) ? at : first),
        null,
      );
    },
    start: poll,
    async close() {
      closed = true;
      clearTimeout(timer);
      await lastRun;
    },
  };
}

async function runAllKinds(deps: Deps, dueAt: Instant, isClosed: () => boolean): Promise<JobRun> {
  let done = 0;
  let failed = 0;
  for (const kind of deps.kinds) {
    for (let more = true; more && !isClosed(); ) {
      const batch = await runBatch(deps, kind, dueAt);
      done += batch.done;
      failed += batch.failed;
      more = batch.done + batch.failed > 0;
    }
  }
  return { done, failed };
}

/** One transaction's worth. Nothing due: `{ done: 0, failed: 0 }`. */
async function runBatch(deps: Deps, kind: JobKind, dueAt: Instant): Promise<JobRun> {
  const taken: Job[] = [];
  try {
    await deps.db.transaction(async (tx) => {
      const filter = { kind: kind.kind, dueAt, realNow: Date.now() };
      taken.push(...(await takeDueJobs(tx, filter, kind.batchMax)));
      if (taken.length === 0) return;
      // Deleted first, so that the work may queue the same job again for a later instant.
      await deleteJobs(
        tx,
        taken.map((job) => job.id),
      );
      await kind.run(tx, taken);
    });
    return { done: taken.length, failed: 0 };
  } catch (error) {
    if (taken.length === 0) throw error;
    await postponeJobs(
      deps.db,
      taken.map((job) => job.id),
      { realNow: Date.now(), message: error instanceof Error ? error.message : String(error) },
    );
    deps.log.error(
      { err: error, kind: kind.kind, jobs: taken.length },
      'jobs failed and will be tried again',
    );
    return { done: 0, failed: taken.length };
  }
}
