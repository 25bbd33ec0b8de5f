/** The state of the queue for operators: waiting jobs, failed jobs, and manual retries. */
import type { RowContext } from '../billing/billing-context.ts';
import { assert, notFound } from '../core/errors.ts';
import { cutPage, type Page, type PageRequest } from '../core/paging.ts';
import { HOUR_MS, MINUTE_MS } from '../core/time.ts';
import { listFailingDeliveries } from '../store/invoices/failing-deliveries.ts';
import {
  type FailedJob as FailedStoredJob,
  listFailedJobs as listStoredFailedJobs,
  retryFailedJob,
} from '../store/jobs/failed-jobs.ts';
import { loadQueueFigures, type QueueFigures } from '../store/jobs/job-figures.ts';

/** Failed work that is retried: a job, or the delivery of an invoice. */
export interface FailedJob extends Omit<FailedStoredJob, 'id'> {
  /** Null: it is a delivery. */
  readonly id: number | null;
  /** Null: it is a job. */
  readonly invoiceId: string | null;
}

/** Deliveries precede jobs. */
export type FailedPosition = { readonly invoiceId: string } | { readonly id: number };

/** On an idle system a job is done within seconds. */
const OVERDUE_MS = 10 * MINUTE_MS;

/** For each kind with jobs that are due or have failed. */
export async function queueFigures({ db, clock }: RowContext): Promise<readonly QueueFigures[]> {
  const now = clock.now();
  return await loadQueueFigures(db, now, now - OVERDUE_MS);
}

/** A delivery that fails for longer needs attention: the backoff is at its maximum by then. */
const DELIVERY_FAILS_MS = HOUR_MS;

const KINDS = { deliver: 'deliver_invoice', void: 'void_invoice', look: 'read_external_invoice' } as const;

/** Deliveries of invoices that have been tried for more than an hour, then jobs that have failed. */
export async function listFailedJobs(
  { db, clock }: RowContext,
  { after, limit }: PageRequest<FailedPosition>,
): Promise<Page<FailedJob, FailedPosition>> {
  const afterId = after !== null && 'id' in after ? after.id : null;
  const deliveries =
    afterId === null
      ? await listFailingDeliveries(db, {
          since: clock.now() - DELIVERY_FAILS_MS,
          afterId: after !== null && 'invoiceId' in after ? after.invoiceId : null,
          limit: limit + 1,
        })
      : [];
  const rest = limit + 1 - deliveries.length;
  const jobs = rest === 0 ? [] : await listStoredFailedJobs(db, { afterId, limit: rest });
  const rows: FailedJob[] = [
    ...deliveries.map(({ failingSince, step, ...delivery }) => ({
      ...delivery,
      id: null,
      kind: KINDS[step],
      runAt: failingSince,
    })),
    ...jobs.map((job) => ({ ...job, invoiceId: null })),
  ];
  return cutPage(rows, limit, positionOf);
}

function positionOf({ id, invoiceId }: FailedJob): FailedPosition {
  if (id !== null) return { id };
  assert(invoiceId !== null, 'what is no job is a delivery');
  return { invoiceId };
}

/** Retries a failed job within a second. Refuses one that is done, or has not failed (`not_found`). */
export async function retryJob({ db }: Pick<RowContext, 'db'>, id: number): Promise<void> {
  const isThere = await db.transaction((tx) => retryFailedJob(tx, id));
  if (!isThere) throw notFound('failed job', String(id));
}
