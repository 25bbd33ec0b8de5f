/**
 * Claims on jobs (docs/explanation/jobs.md, "Prepared without a transaction"). A process claims jobs while it prepares
 * their work, so that no other process does the same. A claim lasts for seconds and is renewed, so the jobs of a killed
 * process are soon free. It is not needed for correctness: only a transaction that holds the row does the job.
 */
import { and, asc, eq, inArray, not, type SQL, sql } from 'drizzle-orm';
import { SECOND_MS } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { earlierOfSubject, isFreeFor, isHeldUp, jobColumns, type Step, stepJobs } from './job-order.ts';
import { jobs } from './jobs.tables.ts';
import type { Job } from './jobs.ts';

/** Long enough for a busy process to renew it in time. */
export const CLAIM_MS = 6 * SECOND_MS;

/**
 * Claims jobs of a step for `claimant`, at most `limit`, in their order. Skips jobs that others hold or have claimed,
 * and later jobs of the same subject.
 */
export function claimStep(
  db: Database,
  kinds: readonly string[],
  step: Step,
  { claimant, limit }: { readonly claimant: string; readonly limit: number },
): Promise<Job[]> {
  return db.transaction(async (tx) => {
    const free = await tx
      .select(jobColumns)
      .from(jobs)
      .where(and(stepJobs(kinds, step), isFreeFor(claimant)))
      .orderBy(asc(jobs.id))
      .limit(limit)
      .for('update', { skipLocked: true });
    return claim(tx, claimant, await inSubjectOrder(tx, kinds, free));
  });
}

/** Claims those of the jobs that are neither held nor claimed and that wait for no other job, failed ones included. */
export function claimJobs(
  db: Database,
  kinds: readonly string[],
  { claimant, ids }: { readonly claimant: string; readonly ids: readonly number[] },
): Promise<Job[]> {
  return db.transaction(async (tx) => {
    const free = await tx
      .select(jobColumns)
      .from(jobs)
      .where(and(inArray(jobs.id, [...ids]), not(isHeldUp(kinds)), isFreeFor(claimant)))
      .orderBy(asc(jobs.runAt), asc(jobs.id))
      .for('update', { skipLocked: true });
    return claim(tx, claimant, free);
  });
}

/**
 * Locks those of the claimed jobs that are still to be done until the transaction ends, in their order. Skips jobs that
 * another transaction holds or another process has claimed since, and later jobs of the same subject.
 */
export async function takeClaimed(
  tx: Transaction,
  kinds: readonly string[],
  { claimant, ids }: { readonly claimant: string; readonly ids: readonly number[] },
): Promise<Job[]> {
  const taken = await tx
    .select(jobColumns)
    .from(jobs)
    .where(and(inArray(jobs.id, [...ids]), eq(jobs.claimedBy, claimant), not(isHeldUp(kinds))))
    .orderBy(asc(jobs.runAt), asc(jobs.id))
    .for('update', { skipLocked: true });
  return inSubjectOrder(tx, kinds, taken);
}

/** Extends the claim. Skips rows that a transaction holds: waiting for them could deadlock. */
export async function renewClaim(db: Database, claimant: string): Promise<void> {
  const own = db
    .select({ id: jobs.id })
    .from(jobs)
    .where(eq(jobs.claimedBy, claimant))
    .for('update', { skipLocked: true });
  await db.update(jobs).set({ claimedUntil: claimEnd() }).where(inArray(jobs.id, own));
}

/**
 * Releases the rest of the claim. Rows that a transaction holds are free when the claim expires, or for the same
 * claimant.
 */
export async function releaseClaim(db: Database, claimant: string): Promise<void> {
  const own = db
    .select({ id: jobs.id })
    .from(jobs)
    .where(eq(jobs.claimedBy, claimant))
    .for('update', { skipLocked: true });
  await db.update(jobs).set({ claimedBy: null, claimedUntil: null }).where(inArray(jobs.id, own));
}

async function claim(tx: Transaction, claimant: string, free: readonly Job[]): Promise<Job[]> {
  if (free.length === 0) return [];
  const ids = free.map(({ id }) => id);
  await tx.update(jobs).set({ claimedBy: claimant, claimedUntil: claimEnd() }).where(inArray(jobs.id, ids));
  return [...free];
}

/** Removes jobs whose subject has an earlier job that is not among `found`. */
async function inSubjectOrder(
  tx: Transaction,
  kinds: readonly string[],
  found: readonly Job[],
): Promise<Job[]> {
  if (found.length === 0) return [];
  const ids = found.map(({ id }) => id);
  const late = await tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(inArray(jobs.id, ids), earlierOfSubject(kinds, sql`other.id not in ${ids}`)));
  const lateIds = new Set(late.map(({ id }) => id));
  return found.filter(({ id }) => !lateIds.has(id));
}

/** By the clock of the database, which all processes share. */
function claimEnd(): SQL {
  return sql`clock_timestamp() + ${`${CLAIM_MS}ms`}::interval`;
}
