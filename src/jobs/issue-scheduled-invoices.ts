/** The job that issues scheduled invoices. Its work is in `billing/invoices/scheduled/`. */
import { issueScheduledInvoices, SCHEDULED_JOB } from '../billing/invoices/scheduled/issue.ts';
import type { Clock } from '../core/clock.ts';
import type { JobKind } from './job-kind.ts';

/** Contracts per transaction. */
const BATCH_MAX = 250;

/** Nothing is computed ahead: what the jobs need is read in their transaction, in milliseconds. */
export function scheduledInvoicesJobKind(deps: { readonly clock: Clock }): JobKind {
  return {
    kind: SCHEDULED_JOB,
    batchMax: BATCH_MAX,
    prepare: async () => ({
      stillValid: async (_tx, jobs) => jobs,
      write: (tx, jobs) => issueScheduledInvoices(deps, tx, jobs),
    }),
  };
}
