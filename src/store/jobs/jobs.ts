/** The queue of due work: queued once by key, deleted when done. job-order.ts decides which job is next. */
import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm';
import type { Instant } from '../../core/time.ts';
import { builtOnce, placeholdersOf } from '../base/built-once.ts';
import type { Database, Transaction } from '../base/database.ts';
import { jobs } from './jobs.tables.ts';

export interface NewJob {
  readonly kind: string;
  readonly key: string;
  /** Jobs of one subject run in order, and wait for a failed one; null: independent of all others. */
  readonly subject: string | null;
  readonly runAt: Instant;
  readonly payload: unknown;
}

export interface Job extends NewJob {
  readonly id: number;
  /** The number of failed attempts. */
  readonly attempts: number;
}

/** Adds jobs. A job whose key is already queued is stored once, at the earlier of both instants. */
export async function enqueueJobs(db: Database | Transaction, newJobs: readonly NewJob[]): Promise<void> {
  const [first, ...others] = newJobs;
  if (first === undefined) return;
  if (others.length === 0) await enqueueOne(db, { ...first });
  else
    await db
      .insert(jobs)
      .values([...newJobs])
      .onConflictDoUpdate(EARLIER_OF_BOTH);
}

const EARLIER_OF_BOTH = {
  target: [jobs.kind, jobs.key],
  set: { runAt: sql`least(${jobs.runAt}, excluded.run_at)` },
};

const enqueueOne = builtOnce((db) =>
  db
    .insert(jobs)
    .values(placeholdersOf(jobs, ['kind', 'key', 'subject', 'runAt', 'payload']))
    .onConflictDoUpdate(EARLIER_OF_BOTH)
    .prepare(''),
);

/** The keys of queued jobs of a kind after `after`, in their order. */
export async function listJobKeys(
  tx: Transaction,
  kind: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<string[]> {
  const rows = await tx
    .select({ key: jobs.key })
    .from(jobs)
    .where(and(eq(jobs.kind, kind), after === null ? undefined : gt(jobs.key, after)))
    .orderBy(asc(jobs.key))
    .limit(limit);
  return rows.map(({ key }) => key);
}

/**
 * Prevents queued jobs from running until the transaction ends; waits for those that are running. Returns their ids.
 */
export async function holdJobs(tx: Transaction, kind: string, keys: readonly string[]): Promise<number[]> {
  if (keys.length === 0) return [];
  const held = await tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.kind, kind), inArray(jobs.key, [...keys])))
    .orderBy(asc(jobs.id))
    .for('update');
  return held.map(({ id }) => id);
}

/** `holdJobs` for all queued jobs of a kind. */
export async function holdJobsOf(tx: Transaction, kind: string): Promise<void> {
  await tx.select({ id: jobs.id }).from(jobs).where(eq(jobs.kind, kind)).orderBy(asc(jobs.id)).for('update');
}

/** Takes queued jobs away; waits for those that are running. */
export async function removeJobs(tx: Transaction, kind: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.delete(jobs).where(and(eq(jobs.kind, kind), inArray(jobs.key, [...keys])));
}

export async function deleteJobs(tx: Transaction, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await tx.delete(jobs).where(inArray(jobs.id, [...ids]));
}

/**
 * Records a failure, which frees the job: the backoff doubles with each attempt, from 1 second to 5 minutes. Does
 * nothing if another transaction holds the job: it may be completing it.
 */
export async function postponeJob(
  db: Database | Transaction,
  id: number,
  failure: { readonly realNow: Instant; readonly message: string },
): Promise<void> {
  const free = db
    .select({ id: jobs.id })
    .from(jobs)
    .where(eq(jobs.id, id))
    .for('update', { skipLocked: true });
  await db
    .update(jobs)
    .set({
      attempts: sql`${jobs.attempts} + 1`,
      retryAt: sql`${new Date(failure.realNow).toISOString()}::timestamptz + least(interval '5 minutes', interval '1 second' * power(2, least(${jobs.attempts}, 20)))`,
      lastError: failure.message.slice(0, 2_000),
      claimedBy: null,
      claimedUntil: null,
    })
    .where(inArray(jobs.id, free));
}
