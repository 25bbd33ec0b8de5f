/** Jobs that have failed and wait for another attempt, with the customer of the contract that they belong to. */
import { and, asc, eq, gt, sql } from 'drizzle-orm';
import { cutPage, type Page, type PageRequest } from '../../core/paging.ts';
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

/** In the order in which they were queued. */
export async function listFailedJobs(
  db: Database | Transaction,
  { after, limit }: PageRequest<{ readonly id: number }>,
): Promise<Page<FailedJob, { readonly id: number }>> {
  const rows = await db
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
    .where(and(gt(jobs.attempts, 0), after === null ? undefined : gt(jobs.id, after.id)))
    .orderBy(asc(jobs.id))
    .limit(limit + 1);
  return cutPage(rows, limit, ({ id }) => ({ id }));
}

/** Has a failed job tried again at once. Returns whether there is such a job. */
export async function retryFailedJob(db: Database | Transaction, id: number): Promise<boolean> {
  const rows = await db
    .update(jobs)
    .set({ retryAt: sql`'epoch'` })
    .where(and(eq(jobs.id, id), gt(jobs.attempts, 0)))
    .returning({ id: jobs.id });
  return rows.length > 0;
}
