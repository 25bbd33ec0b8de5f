/** The job that issues scheduled invoices. Its work is in `billing/invoices/scheduled/`. */

import type { BillingContext } from '../billing/billing-context.ts';
import { issued } from '../billing/invoice-log/system-changes.ts';
import { SCHEDULED_JOB } from '../billing/invoice-queue/scheduled-jobs.ts';
import { issueScheduledInvoices } from '../billing/invoices/scheduled/issue.ts';
import { type JobKind, shortJobKind } from './job-kind.ts';

/** Contracts per transaction. */
const BATCH_MAX = 250;

export function scheduledInvoicesJobKind(deps: BillingContext): JobKind {
  return shortJobKind({
    kind: SCHEDULED_JOB,
    batchMax: BATCH_MAX,
    run: (tx, jobs) => issueScheduledInvoices(deps, tx, jobs),
    changes: (invoices) => invoices.map(issued),
    committed(invoices) {
      deps.invoiceLog.finalized(invoices.filter(({ status }) => status === 'FINALIZED'));
      for (const invoice of invoices) if (invoice.status === 'VOID') deps.invoiceLog.voided(invoice);
    },
  });
}
