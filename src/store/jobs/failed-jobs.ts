/** Jobs that have failed and wait for another attempt, with the customer of the contract that they belong to. */
import { and, asc, eq, gt, sql } from 'drizzle-orm';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { contracts } from '../contracts/contracts.tables.ts';
import { jobs } from './jobs.tables.ts';

export interface FailedJob {
  readonly id: number;
  readonly kind: string;
  /** Null for a job that belongs to no contract. */
  readonly contractId: string | null;
  readonly customerId: string | null;
  /** By the service's clock. */
  readonly runAt: Instant;
  readonly attempts: number;
  /** In real time. */
  readonly retryAt: Instant;
  readonly lastError: string | null;
}

/** Failed jobs in the order in which they were queued. */
export async function listFailedJobs(
  db: Database | Transaction,
  { afterId, limit }: { readonly afterId: number | null; readonly limit: number },
): Promise<FailedJob[]> {
  return await db
    .select({
      id: jobs.id,
      kind: jobs.kind,
      contractId: contracts.id,
      customerId: contracts.customerId,
      runAt: jobs.runAt,
      attempts: jobs.attempts,
      retryAt: jobs.retryAt,
      lastError: jobs.lastError,
    })
    .from(jobs)
    .leftJoin(contracts, eq(sql`${contracts.id}::text`, jobs.subject))
    .where(and(gt(jobs.attempts, 0), afterId === null ? undefined : gt(jobs.id, afterId)))
    .orderBy(asc(jobs.id))
    .limit(limit);
}

/** Makes a failed job run again at once. Returns whether the job exists. */
export async function retryFailedJob(db: Database | Transaction, id: number): Promise<boolean> {
  const rows = await db
    .update(jobs)
    .set({ retryAt: sql`'epoch'` })
    .where(and(eq(jobs.id, id), gt(jobs.attempts, 0)))
    .returning({ id: jobs.id });
  return rows.length > 0;
}
