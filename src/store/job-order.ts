/**
 * The order of jobs (docs/jobs.md): by instant, then by the rank of their kind, then by id. Failed jobs lose their
 * place, and the later jobs of their subject wait for them.
 *
 * `kinds` are all kinds that the process knows, by rank. Jobs of other kinds are ignored.
 */
import { and, asc, eq, inArray, lte, not, type SQL, sql } from 'drizzle-orm';
import type { Instant } from '../core/time.ts';
import { instantFromPostgres } from './columns.ts';
import type { Database, Transaction } from './database.ts';
import type { Job } from './jobs.ts';
import { jobs } from './schema/jobs.ts';

/** All jobs of one kind and one instant. */
export interface Step {
  readonly kind: string;
  readonly runAt: Instant;
}

const columns = {
  id: jobs.id,
  kind: jobs.kind,
  key: jobs.key,
  subject: jobs.subject,
  runAt: jobs.runAt,
  payload: jobs.payload,
  attempts: jobs.attempts,
};

/** The first step with a job that can run, among those due at `dueAt`, or among all where it is null. */
export async function nextStep(
  db: Database | Transaction,
  kinds: readonly string[],
  dueAt: Instant | null,
): Promise<Step | null> {
  // One statement, so that the jobs that a job queues become visible together with its deletion.
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

/**
 * Locks jobs of a step until the transaction ends, in their order. Leaves out those that other transactions
 * hold, and those that come after such a one of their subject.
 */
export async function takeStep(
  tx: Transaction,
  kinds: readonly string[],
  { kind, runAt }: Step,
  limit: number,
): Promise<Job[]> {
  const taken = await tx
    .select(columns)
    .from(jobs)
    .where(and(eq(jobs.kind, kind), eq(jobs.runAt, runAt), eq(jobs.attempts, 0), not(isHeldUp(kinds))))
    .orderBy(asc(jobs.id))
    .limit(limit)
    .for('update', { skipLocked: true });
  if (taken.length === 0) return [];
  const ids = taken.map(({ id }) => id);
  const isUntaken = sql`other.id not in ${ids}`;
  const late = await tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(inArray(jobs.id, ids), earlierOfSubject(kinds, isUntaken)));
  const lateIds = new Set(late.map(({ id }) => id));
  return taken.filter(({ id }) => !lateIds.has(id));
}

/** Locks those of the jobs that no other transaction holds and that wait for no other job, failed ones included. */
export async function takeJobs(
  tx: Transaction,
  kinds: readonly string[],
  ids: readonly number[],
): Promise<Job[]> {
  return tx
    .select(columns)
    .from(jobs)
    .where(and(inArray(jobs.id, [...ids]), not(isHeldUp(kinds))))
    .orderBy(asc(jobs.runAt), asc(jobs.id))
    .for('update', { skipLocked: true });
}

export interface FailedJob extends Omit<Job, 'payload' | 'key'> {
  readonly lastError: string | null;
}

/**
 * Failed jobs that wait for no other failed job, oldest first. With `retryBy`, an instant of real time, only those
 * whose pause is over by then.
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
  const { payload: _, key: __, ...shown } = columns;
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
 * Waits until no other transaction holds the first job of the step. Returns false where that took longer
 * than `timeoutMs`.
 */
export async function awaitStep(
  db: Database,
  kinds: readonly string[],
  { kind, runAt }: Step,
  timeoutMs: number,
): Promise<boolean> {
  try {
    await db.transaction(async (tx) => {
      await tx.execute(sql`select set_config('lock_timeout', ${`${timeoutMs}ms`}, true)`);
      await tx
        .select({ id: jobs.id })
        .from(jobs)
        .where(and(eq(jobs.kind, kind), eq(jobs.runAt, runAt), eq(jobs.attempts, 0), not(isHeldUp(kinds))))
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

/** An earlier job of the same subject has failed. */
function isHeldUp(kinds: readonly string[]): SQL {
  return earlierOfSubject(kinds, sql`other.attempts > 0`);
}

/**
 * There is an earlier job of the same subject, `other`, for which the condition holds. `offset 0` keeps
 * PostgreSQL from joining the whole queue with itself: it is looked up for each job, by an index.
 */
function earlierOfSubject(kinds: readonly string[], condition: SQL): SQL {
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
