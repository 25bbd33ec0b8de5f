/** The queue of due work: enqueue once by key, take with SKIP LOCKED, delete when done. */
import { and, asc, eq, inArray, lte, min, sql } from 'drizzle-orm';
import type { Instant } from '../core/time.ts';
import type { Database, Transaction } from './database.ts';
import { jobs } from './schema/jobs.ts';

export interface NewJob {
  readonly kind: string;
  readonly key: string;
  readonly runAt: Instant;
  readonly payload: unknown;
}

export interface Job {
  readonly id: number;
  readonly key: string;
  readonly runAt: Instant;
  readonly payload: unknown;
  readonly attempts: number;
}

/** Adds jobs. One whose key is already queued is kept once, at the earlier of both instants. */
export async function enqueueJobs(db: Database | Transaction, newJobs: readonly NewJob[]): Promise<void> {
  if (newJobs.length === 0) return;
  await db
    .insert(jobs)
    .values([...newJobs])
    .onConflictDoUpdate({
      target: [jobs.kind, jobs.key],
      set: { runAt: sql`least(${jobs.runAt}, excluded.run_at)` },
    });
}

export interface DueFilter {
  readonly kind: string;
  /** Jobs whose `runAt` is at or before this instant of the service's clock. */
  readonly dueAt: Instant;
  /** Real time, for the pause after a failure. */
  readonly realNow: Instant;
}

function isDue(filter: DueFilter) {
  return and(eq(jobs.kind, filter.kind), lte(jobs.runAt, filter.dueAt), lte(jobs.retryAt, filter.realNow));
}

/**
 * Locks due jobs until the transaction ends; other processes skip them. Jobs that have failed before
 * are taken one at a time, so that a bad one cannot hold up the rest of a batch.
 */
export async function takeDueJobs(tx: Transaction, filter: DueFilter, limit: number): Promise<Job[]> {
  const columns = {
    id: jobs.id,
    key: jobs.key,
    runAt: jobs.runAt,
    payload: jobs.payload,
    attempts: jobs.attempts,
  };
  const taken = await tx
    .select(columns)
    .from(jobs)
    .where(and(isDue(filter), eq(jobs.attempts, 0)))
    .orderBy(asc(jobs.runAt), asc(jobs.id))
    .limit(limit)
    .for('update', { skipLocked: true });
  if (taken.length > 0) return taken;
  return tx
    .select(columns)
    .from(jobs)
    .where(isDue(filter))
    .orderBy(asc(jobs.runAt), asc(jobs.id))
    .limit(1)
    .for('update', { skipLocked: true });
}

/** Keeps queued jobs from running until the transaction ends; waits for those that are running. */
export async function holdJobs(tx: Transaction, kind: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.kind, kind), inArray(jobs.key, [...keys])))
    .orderBy(asc(jobs.id))
    .for('update');
}

/** Takes queued jobs away; waits for those that are running. */
export async function removeJobs(tx: Transaction, kind: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.delete(jobs).where(and(eq(jobs.kind, kind), inArray(jobs.key, [...keys])));
}

export async function deleteJobs(tx: Transaction, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await tx.delete(jobs).where(inArray(jobs.id, [...ids]));
}

/** Notes a failure: each attempt waits twice as long as the one before, from 1 second to 5 minutes. */
export async function postponeJobs(
  db: Database | Transaction,
  ids: readonly number[],
  failure: { readonly realNow: Instant; readonly message: string },
): Promise<void> {
  if (ids.length === 0) return;
  await db
    .update(jobs)
    .set({
      attempts: sql`${jobs.attempts} + 1`,
      retryAt: sql`${new Date(failure.realNow).toISOString()}::timestamptz + least(interval '5 minutes', interval '1 second' * power(2, least(${jobs.attempts}, 20)))`,
      lastError: failure.message.slice(0, 2_000),
    })
    .where(inArray(jobs.id, [...ids]));
}

/** When the next job of `kind` falls due, or null where none is queued. */
export async function nextJobAt(db: Database | Transaction, kind: string): Promise<Instant | null> {
  const rows = await db
    .select({ at: min(jobs.runAt) })
    .from(jobs)
    .where(eq(jobs.kind, kind));
  return rows[0]?.at ?? null;
}
