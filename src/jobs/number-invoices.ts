/** The job that numbers issued invoices. Its work is in `billing/invoices/numbering.ts`. */

import type { BillingContext } from '../billing/billing-context.ts';
import { numbered } from '../billing/invoice-log/system-changes.ts';
import { numberInvoices } from '../billing/invoices/numbering.ts';
import { NUMBERING_JOB } from '../store/invoices/invoice-numbers.ts';
import { type JobKind, shortJobKind } from './job-kind.ts';

/** Jobs per transaction. Each invoice run queues one per batch, and the first of them numbers all invoices. */
const BATCH_MAX = 1_000;

export function numberingJobKind(deps: BillingContext): JobKind {
  return shortJobKind({
    kind: NUMBERING_JOB,
    batchMax: BATCH_MAX,
    run: (tx, batch) => numberInvoices(deps, tx, batch),
    changes: (numbers) => numbers.map(numbered),
    committed: (numbers) => deps.invoiceLog.numbered(numbers),
  });
}
