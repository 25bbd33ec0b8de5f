/** The state of the queue for operators: waiting jobs, failed jobs, and another attempt at once. */
import type { RowContext } from '../billing/billing-context.ts';
import { notFound } from '../core/errors.ts';
import type { Page, PageRequest } from '../core/paging.ts';
import { MINUTE_MS } from '../core/time.ts';
import {
  type FailedJob,
  listFailedJobs as listStoredFailedJobs,
  retryFailedJob,
} from '../store/jobs/failed-jobs.ts';
import { loadQueueFigures, type QueueFigures } from '../store/jobs/job-figures.ts';

export type { FailedJob };

/** On an idle system a job is done within seconds. */
const OVERDUE_MS = 10 * MINUTE_MS;

/** For each kind with jobs that are due or have failed. */
export async function queueFigures({ db, clock }: RowContext): Promise<readonly QueueFigures[]> {
  const now = clock.now();
  return await loadQueueFigures(db, now, now - OVERDUE_MS);
}

export async function listFailedJobs(
  { db }: Pick<RowContext, 'db'>,
  page: PageRequest<{ readonly id: number }>,
): Promise<Page<FailedJob, { readonly id: number }>> {
  return await listStoredFailedJobs(db, page);
}

/** Has a failed job tried again within a second. Refuses one that is done, or has not failed (`not_found`). */
export async function retryJob({ db }: Pick<RowContext, 'db'>, id: number): Promise<void> {
  const isThere = await db.transaction((tx) => retryFailedJob(tx, id));
  if (!isThere) throw notFound('failed job', String(id));
}
