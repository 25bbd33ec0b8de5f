/** The job that issues consolidated invoices. Its work is in `billing/invoices/consolidated/`. */

import type { BillingContext } from '../billing/billing-context.ts';
import { issued } from '../billing/invoice-log/system-changes.ts';
import { issueConsolidatedInvoices } from '../billing/invoices/consolidated/issue.ts';
import { CONSOLIDATION_JOB } from '../store/jobs/consolidation-jobs.ts';
import { type JobKind, shortJobKind } from './job-kind.ts';

/** Consolidated invoices per transaction. Each reads the lines of up to ten invoices. */
const BATCH_MAX = 25;

export function consolidatedInvoicesJobKind(deps: BillingContext): JobKind {
  return shortJobKind({
    kind: CONSOLIDATION_JOB,
    batchMax: BATCH_MAX,
    run: (tx, jobs) => issueConsolidatedInvoices(deps, tx, jobs),
    changes: (invoices) => invoices.map(issued),
    committed: (invoices) => deps.invoiceLog.finalized(invoices),
  });
}
