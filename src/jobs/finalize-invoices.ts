/** The job that finalizes usage invoices. Its work is in `billing/invoices/finalization.ts`. */
import {
  FINALIZATION_JOB,
  type FinalizationDeps,
  finalizeInvoices,
} from '../billing/invoices/finalization.ts';
import type { JobKind } from './run-jobs.ts';

/** Invoices per transaction: enough to share queries, few enough for a transaction of seconds. */
const BATCH_MAX = 250;

export function finalizationJobKind(deps: FinalizationDeps): JobKind {
  return {
    kind: FINALIZATION_JOB,
    batchMax: BATCH_MAX,
    run: (tx, batch) => finalizeInvoices(deps, tx, batch),
  };
}
