/** The job that finalizes usage invoices. Its work is in `billing/invoices/finalize.ts`. */

import { FINALIZATION_JOB } from '../billing/invoice-queue/finalization.ts';
import { firstGroupSize } from '../billing/invoices/compute-run.ts';
import { prepareInvoices } from '../billing/invoices/finalize.ts';
import type { JobKind } from './job-kind.ts';
import type { JobsContext } from './jobs-context.ts';

/** Invoices per transaction: enough to share queries, few enough for a transaction of seconds. */
const BATCH_MAX = 250;
/** One is written to PostgreSQL, one rated, and the terms of one are read meanwhile. */
const BATCHES_AT_ONCE = 3;

export function finalizationJobKind(deps: JobsContext): JobKind {
  const groupSize = firstGroupSize();
  return {
    kind: FINALIZATION_JOB,
    batchMax: BATCH_MAX,
    batchesAtOnce: BATCHES_AT_ONCE,
    prepare: (batch, inTurn) => prepareInvoices({ ...deps, groupSize }, batch, inTurn),
  };
}
