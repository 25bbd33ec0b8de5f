/** Sizes of the job queue, for metrics. */
import { gt, lte, min, or, sql } from 'drizzle-orm';
import type { Instant } from '../../core/time.ts';
import type { Database } from '../base/database.ts';
import { jobs } from './jobs.tables.ts';

export interface QueueFigures {
  readonly kind: string;
  /** Jobs that are due, including failing ones and those that wait for them. */
  readonly due: number;
  /** Due jobs that have been due since `overdueAt`. */
  readonly overdue: number;
  /** Jobs that have failed and will be retried. */
  readonly failing: number;
  /** When the oldest of them became due. */
  readonly oldestFailing: Instant | null;
}

/** Figures for each kind that has any due or failing job. */
export async function loadQueueFigures(
  db: Database,
  dueAt: Instant,
  overdueAt: Instant = dueAt,
): Promise<QueueFigures[]> {
  const isDue = lte(jobs.runAt, dueAt);
  const isFailing = gt(jobs.attempts, 0);
  return db
    .select({
      kind: jobs.kind,
      due: sql`count(*) filter (where ${isDue})`.mapWith(Number),
      overdue: sql`count(*) filter (where ${lte(jobs.runAt, overdueAt)})`.mapWith(Number),
      failing: sql`count(*) filter (where ${isFailing})`.mapWith(Number),
      oldestFailing: min(sql`case when ${isFailing} then ${jobs.runAt} end`).mapWith(jobs.runAt),
    })
    .from(jobs)
    .where(or(isDue, isFailing))
    .groupBy(jobs.kind)
    .orderBy(jobs.kind);
}
