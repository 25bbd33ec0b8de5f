/** Artificial jobs on a real database, which record the order in which they ran. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { JobKind } from '../../src/jobs/job-kind.ts';
import type { Database } from '../../src/store/base/database.ts';
import { enqueueJobs, type Job, type NewJob } from '../../src/store/jobs/jobs.ts';

/** A job as a test describes it. */
export interface PlannedJob {
  readonly key: string;
  readonly kind: string;
  readonly subject: string | null;
  readonly runAt: number;
  /** Queued by the job. */
  readonly brings: readonly PlannedJob[];
}

const plannedJob: z.ZodType<PlannedJob> = z.lazy(() =>
  z.object({
    key: z.string(),
    kind: z.string(),
    subject: z.string().nullable(),
    runAt: z.number(),
    brings: z.array(plannedJob),
  }),
);

export interface Effect {
  readonly key: string;
  readonly jobId: number;
}

export async function createEffects(db: Database): Promise<void> {
  await db.execute(sql`
    create table effects (sequence bigint generated always as identity, key text, job_id bigint)`);
}

/** First to last. */
export async function effectsOf(db: Database): Promise<Effect[]> {
  const rows = await db.execute<{ key: string; job_id: string }>(
    sql`select key, job_id from effects order by sequence`,
  );
  return rows.map((row) => ({ key: row.key, jobId: Number(row.job_id) }));
}

export async function queuePlanned(
  db: Parameters<typeof enqueueJobs>[0],
  jobs: readonly PlannedJob[],
): Promise<void> {
  await enqueueJobs(
    db,
    jobs.map((job): NewJob => {
      const { key, kind, subject, runAt } = job;
      return { key, kind, subject, runAt, payload: job };
    }),
  );
}

export interface RecordingHooks {
  /** Runs after the effect of the job is written, and may fail it. */
  readonly onJob?: (job: Job) => unknown;
  /** Runs while the batch is prepared, and may fail it. */
  readonly onPrepare?: (batch: readonly Job[]) => unknown;
  /** The same, ahead of its turn. */
  readonly onAhead?: (batch: readonly Job[]) => Promise<void>;
  /** The same, in turn with other batches. */
  readonly onTurn?: (batch: readonly Job[]) => Promise<void>;
  /** Whether what the job was prepared from is as it was. */
  readonly isValid?: (job: Job) => boolean;
  readonly batchesAtOnce?: number;
}

export function recordingKind(kind: string, batchMax: number, hooks: RecordingHooks = {}): JobKind {
  const { onJob, onPrepare, isValid = () => true, batchesAtOnce = 1 } = hooks;
  const { onAhead = async () => undefined, onTurn = async () => undefined } = hooks;
  return {
    kind,
    batchMax,
    batchesAtOnce,
    async prepare(batch, inTurn) {
      await onPrepare?.(batch);
      await inTurn(
        () => onAhead(batch),
        () => onTurn(batch),
      );
      return {
        stillValid: async (_, jobs) => jobs.filter(isValid),
        async write(tx, jobs) {
          for (const job of jobs) {
            await tx.execute(sql`insert into effects (key, job_id) values (${job.key}, ${job.id})`);
            await onJob?.(job);
            await queuePlanned(tx, plannedJob.parse(job.payload).brings);
          }
        },
      };
    },
  };
}
