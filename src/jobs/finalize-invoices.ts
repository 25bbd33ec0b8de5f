/** The job that finalizes usage invoices. Its work is in `billing/invoices/finalize.ts`. */
import { FINALIZATION_JOB } from '../billing/invoices/finalization.ts';
import { type FinalizationDeps, prepareInvoices } from '../billing/invoices/finalize.ts';
import type { JobKind } from './job-kind.ts';

/** Invoices per transaction: enough to share queries, few enough for a transaction of seconds. */
const BATCH_MAX = 250;
/** While one is written, which is PostgreSQL's work, the usage of the next is read from ClickHouse. */
const BATCHES_AT_ONCE = 2;

export function finalizationJobKind(deps: FinalizationDeps): JobKind {
  return {
    kind: FINALIZATION_JOB,
    batchMax: BATCH_MAX,
    batchesAtOnce: BATCHES_AT_ONCE,
    prepare: (batch) => prepareInvoices(deps, batch),
  };
}
