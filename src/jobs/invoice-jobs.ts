/** The jobs of invoices: to finalize, to issue and to number them. Their work is in `billing/invoices/`. */
import type { BillingContext } from '../billing/billing-context.ts';
import { issueChange, numberingChange } from '../billing/invoice-log/system-changes.ts';
import { FINALIZATION_JOB } from '../billing/invoice-queue/finalization.ts';
import { SCHEDULED_JOB } from '../billing/invoice-queue/scheduled-jobs.ts';
import { firstGroupSize } from '../billing/invoices/compute/compute-run.ts';
import { issueConsolidatedInvoices } from '../billing/invoices/consolidated/issue.ts';
import { prepareInvoices } from '../billing/invoices/issue/finalize.ts';
import { issueScheduledInvoices } from '../billing/invoices/issue/issue-scheduled.ts';
import { numberInvoices } from '../billing/invoices/issue/numbering.ts';
import { NUMBERING_JOB } from '../store/invoices/invoice-numbers.ts';
import { CONSOLIDATION_JOB } from '../store/jobs/consolidation-jobs.ts';
import { type JobKind, shortJobKind } from './job-kind.ts';
import type { JobsContext } from './jobs-context.ts';

/** Invoices per transaction: enough to share queries, few enough for a transaction of seconds. */
const FINALIZED_MAX = 250;
/** One batch is written to PostgreSQL, one is rated, and the terms of one are read at the same time. */
const BATCHES_AT_ONCE = 3;

/** Finalizes usage invoices. */
export function finalizationJobKind(context: JobsContext): JobKind {
  const groupSize = firstGroupSize();
  return {
    kind: FINALIZATION_JOB,
    batchMax: FINALIZED_MAX,
    batchesAtOnce: BATCHES_AT_ONCE,
    prepare: (batch, inTurn) => prepareInvoices({ ...context, groupSize }, batch, inTurn),
  };
}

/** Contracts per transaction. */
const SCHEDULED_MAX = 250;

export function scheduledInvoicesJobKind(context: BillingContext): JobKind {
  return shortJobKind({
    kind: SCHEDULED_JOB,
    batchMax: SCHEDULED_MAX,
    run: (tx, jobs) => issueScheduledInvoices(context, tx, jobs),
    changes: (invoices) => invoices.map(issueChange),
    committed(invoices) {
      context.invoiceLog.finalized(invoices.filter(({ status }) => status === 'FINALIZED'));
      for (const invoice of invoices) if (invoice.status === 'VOID') context.invoiceLog.voided(invoice);
    },
  });
}

/** Consolidated invoices per transaction. Each reads the lines of up to ten invoices. */
const CONSOLIDATED_MAX = 25;

export function consolidatedInvoicesJobKind(context: BillingContext): JobKind {
  return shortJobKind({
    kind: CONSOLIDATION_JOB,
    batchMax: CONSOLIDATED_MAX,
    run: (tx, jobs) => issueConsolidatedInvoices(context, tx, jobs),
    changes: (invoices) => invoices.map(issueChange),
    committed: (invoices) => context.invoiceLog.finalized(invoices),
  });
}

/** Jobs per transaction. Each invoice run queues one per batch, and the first of them numbers all invoices. */
const NUMBERING_MAX = 1_000;

export function numberingJobKind(context: BillingContext): JobKind {
  return shortJobKind({
    kind: NUMBERING_JOB,
    batchMax: NUMBERING_MAX,
    run: (tx, batch) => numberInvoices(context, tx, batch),
    changes: (numbers) => numbers.map(numberingChange),
    committed: (numbers) => context.invoiceLog.numbered(numbers),
  });
}
