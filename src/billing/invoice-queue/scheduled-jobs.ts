/**
 * Queues the jobs that issue SCHEDULED invoices (docs/explanation/invoices.md, "Scheduled invoices"). Each contract has
 * one job, at the date of its next invoice. The work of the job is in invoices/scheduled/issue.ts.
 */
import { z } from 'zod';
import type { Instant } from '../../core/time.ts';
import type { Transaction } from '../../store/base/database.ts';
import type { Contract } from '../../store/contracts/contracts.ts';
import { enqueueJobs, holdJobs, type Job, type NewJob, removeJobs } from '../../store/jobs/jobs.ts';
import { loadOpenSchedules, type OpenSchedule } from './open-items.ts';

/** The kind of the jobs. */
export const SCHEDULED_JOB = 'issue_scheduled_invoice';

const payloadSchema = z.object({ contract_id: z.uuid() });

/**
 * Prevents scheduled invoices of the contracts from being issued until the transaction ends; waits for a running job.
 * Without a job, none can be issued.
 */
export async function holdScheduledInvoices(tx: Transaction, contractIds: readonly string[]): Promise<void> {
  await holdJobs(tx, SCHEDULED_JOB, contractIds);
}

/** Queues the next scheduled invoice of each of the contracts in their current state, replacing queued ones. */
export async function planScheduledInvoices(
  tx: Transaction,
  contracts: readonly Contract[],
  now: Instant,
): Promise<void> {
  await removeJobs(
    tx,
    SCHEDULED_JOB,
    contracts.map(({ id }) => id),
  );
  const schedules = await loadOpenSchedules(tx, contracts, now);
  await enqueueJobs(
    tx,
    [...schedules].flatMap(([contractId, schedule]) => nextJob(contractId, schedule, null)),
  );
}

/** Queues the scheduled invoices of new items of a contract, in addition to queued ones. */
export async function queueScheduledInvoices(
  tx: Transaction,
  added: readonly { readonly contractId: string; readonly at: Instant }[],
): Promise<void> {
  await enqueueJobs(
    tx,
    added.map(({ contractId, at }) => jobAt(contractId, at)),
  );
}

/** The contract whose invoice the job issues. */
export function contractOfJob({ payload }: Job): string {
  return payloadSchema.parse(payload).contract_id;
}

/**
 * The job of the first invoice dated after `after`, or of a held one that has to be checked before. Subscriptions
 * charge period by period: charges after the current periods are found when these end.
 */
export function nextJob(
  contractId: string,
  { targets, nextChargeAt }: OpenSchedule,
  after: Instant | null,
  checks: readonly Instant[] = [],
): NewJob[] {
  const next = targets.find(({ issueAt }) => after === null || issueAt > after);
  const times = [...checks, ...[next?.issueAt, nextChargeAt].filter((at) => at !== undefined && at !== null)];
  return times.length === 0 ? [] : [jobAt(contractId, Math.min(...times))];
}

function jobAt(contractId: string, runAt: Instant): NewJob {
  const payload = { contract_id: contractId };
  return { kind: SCHEDULED_JOB, key: contractId, subject: contractId, runAt, payload };
}
