/**
 * The order of jobs (docs/explanation/jobs.md): by instant, then by the rank of their kind, then by id. Failed jobs
 * lose their place, and the later jobs of their subject wait for them.
 *
 * `kinds` are all kinds that the process knows, by rank. Jobs of other kinds are ignored.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { and, asc, eq, inArray, lte, not, type SQL, sql } from 'drizzle-orm';
import type { Instant } from '../../core/time.ts';
import { instantFromPostgres } from '../base/columns.ts';
import type { Database, Transaction } from '../base/database.ts';
import { jobs } from './jobs.tables.ts';
import type { Job } from './jobs.ts';

/** All jobs of one kind and one instant. */
export interface Step {
  readonly kind: string;
  readonly runAt: Instant;
}

export const jobColumns = {
  id: jobs.id,
  kind: jobs.kind,
  key: jobs.key,
  subject: jobs.subject,
  runAt: jobs.runAt,
  payload: jobs.payload,
  attempts: jobs.attempts,
};

/** The first step with a job that can run, among jobs due at `dueAt`, or among all if it is null. */
export async function nextStep(
  db: Database | Transaction,
  kinds: readonly string[],
  dueAt: Instant | null,
): Promise<Step | null> {
  // One statement, so that the jobs queued by a job become visible together with its deletion.
  const rows = await db.execute<{ kind: string; run_at: string }>(sql`
    select known.kind, first.run_at
    from unnest(${textArray(kinds)}) with ordinality as known (kind, rank)
    cross join lateral (
      select ${jobs.runAt} as run_at from ${jobs}
      where ${jobs.kind} = known.kind and ${jobs.attempts} = 0
        and ${dueAt === null ? sql`true` : lte(jobs.runAt, dueAt)}
        and ${not(isHeldUp(kinds))}
      order by ${jobs.runAt}, ${jobs.id}
      limit 1
    ) as first
    order by first.run_at, known.rank
    limit 1`);
  const [row] = rows;
  return row === undefined ? null : { kind: row.kind, runAt: instantFromPostgres(row.run_at) };
}

/** Whether a job that has not failed may be due at `dueAt`. One look into the index for each kind. */
export function hasDueJob(kinds: readonly string[], dueAt: Instant): SQL {
  return sql`exists (
    select from unnest(${textArray(kinds)}) as known (kind) cross join lateral (
      select from ${jobs}
      where ${jobs.kind} = known.kind and ${jobs.attempts} = 0 and ${lte(jobs.runAt, dueAt)}
      limit 1
    ) as first)`;
}

/** Whether a failed job that is due at `dueAt` is to be retried by `retryBy`, an instant of real time. */
export function hasDueRetry(dueAt: Instant, retryBy: Instant): SQL {
  const isDue = and(lte(jobs.runAt, dueAt), lte(jobs.retryAt, retryBy));
  return sql`exists (select from ${jobs} where ${jobs.attempts} > 0 and ${isDue})`;
}

export interface FailedJob extends Omit<Job, 'payload' | 'key'> {
  readonly lastError: string | null;
}

/**
 * Failed jobs that wait for no other failed job, oldest first. With `retryBy`, an instant of real time, only those
 * whose backoff has ended by then.
 */
export async function loadFailedJobs(
  db: Database,
  kinds: readonly string[],
  {
    dueAt,
    retryBy,
    limit,
  }: { readonly dueAt: Instant; readonly retryBy: Instant | null; readonly limit: number },
): Promise<FailedJob[]> {
  const { payload: _, key: __, ...shown } = jobColumns;
  return db
    .select({ ...shown, lastError: jobs.lastError })
    .from(jobs)
    .where(
      and(
        sql`${jobs.attempts} > 0`,
        inArray(jobs.kind, [...kinds]),
        lte(jobs.runAt, dueAt),
        retryBy === null ? undefined : lte(jobs.retryAt, retryBy),
        not(isHeldUp(kinds)),
      ),
    )
    .orderBy(asc(jobs.runAt), asc(jobs.id))
    .limit(limit);
}

/**
 * Waits until no other process works on the first job of the step, in a transaction or by a claim. Returns false if
 * that took longer than `timeoutMs`.
 */
export async function awaitStep(
  db: Database,
  kinds: readonly string[],
  step: Step,
  { claimant, timeoutMs }: { readonly claimant: string; readonly timeoutMs: number },
): Promise<boolean> {
  const until = performance.now() + timeoutMs;
  for (let left = timeoutMs; left > 0; left = until - performance.now()) {
    const [first] = await db
      .select({ isFree: isFreeFor(claimant).mapWith(Boolean) })
      .from(jobs)
      .where(stepJobs(kinds, step))
      .orderBy(asc(jobs.id))
      .limit(1);
    if (first === undefined) return true;
    if (first.isFree) return awaitLock(db, kinds, step, left);
    await pause(Math.min(CLAIM_POLL_MS, left));
  }
  return false;
}

const CLAIM_POLL_MS = 100;

async function awaitLock(
  db: Database,
  kinds: readonly string[],
  step: Step,
  timeoutMs: number,
): Promise<boolean> {
  try {
    await db.transaction(async (tx) => {
      await tx.execute(sql`select set_config('lock_timeout', ${`${Math.ceil(timeoutMs)}ms`}, true)`);
      await tx
        .select({ id: jobs.id })
        .from(jobs)
        .where(stepJobs(kinds, step))
        .orderBy(asc(jobs.id))
        .limit(1)
        .for('share');
    });
    return true;
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
}

/** PostgreSQL's error code for a lock timeout. */
const LOCK_NOT_AVAILABLE = '55P03';

function isLockTimeout(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return [error, cause].some(
    (one) => one instanceof Error && 'code' in one && one.code === LOCK_NOT_AVAILABLE,
  );
}

/** The jobs of the step that neither failed nor wait for a failed one. */
export function stepJobs(kinds: readonly string[], { kind, runAt }: Step): SQL | undefined {
  return and(eq(jobs.kind, kind), eq(jobs.runAt, runAt), eq(jobs.attempts, 0), not(isHeldUp(kinds)));
}

/** No other claimant has claimed the job, or the claim has expired. */
export function isFreeFor(claimant: string): SQL {
  return sql`coalesce(${jobs.claimedBy} = ${claimant} or ${jobs.claimedUntil} <= clock_timestamp(), true)`;
}

/** An earlier job of the same subject has failed. */
export function isHeldUp(kinds: readonly string[]): SQL {
  return earlierOfSubject(kinds, sql`other.attempts > 0`);
}

/**
 * Whether there is an earlier job of the same subject, `other`, for which the condition holds. `offset 0` keeps
 * PostgreSQL from joining the whole queue with itself: it is looked up for each job, by an index.
 */
export function earlierOfSubject(kinds: readonly string[], condition: SQL): SQL {
  const ranks = textArray(kinds);
  return sql`exists (
    select 1 from ${jobs} as other
    where other.subject = ${jobs.subject} and array_position(${ranks}, other.kind) is not null and ${condition}
      and (other.run_at, array_position(${ranks}, other.kind), other.id)
        < (${jobs.runAt}, array_position(${ranks}, ${jobs.kind}), ${jobs.id})
    offset 0)`;
}

function textArray(values: readonly string[]): SQL {
  return sql`array[${sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )}]::text[]`;
}
