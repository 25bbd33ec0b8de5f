/** The job that closes billing periods; `billing/invoices/finalization.ts` says what that means. */
import {
  FINALIZATION_JOB,
  type FinalizationDeps,
  finalizeInvoices,
} from '../billing/invoices/finalization.ts';
import type { JobKind } from './run-jobs.ts';

/** Invoices of one transaction: enough to share queries, few enough to stay within seconds and memory. */
const BATCH_MAX = 250;

export function finalizationJobKind(deps: FinalizationDeps): JobKind {
  return {
    kind: FINALIZATION_JOB,
    batchMax: BATCH_MAX,
    run: (tx, batch) => finalizeInvoices(deps, tx, batch),
  };
}
