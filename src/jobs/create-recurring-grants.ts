/** The job that creates the commits and credits of recurring terms. Its work is in `billing/contracts/grants/`. */
import { createGrants, GRANT_JOB, type GrantDeps } from '../billing/contracts/grants/grant-jobs.ts';
import { type JobKind, shortJobKind } from './job-kind.ts';

/** Contracts per transaction, each with 200 children at most. */
const BATCH_MAX = 50;

export function recurringGrantsJobKind(deps: GrantDeps): JobKind {
  return shortJobKind({
    kind: GRANT_JOB,
    batchMax: BATCH_MAX,
    run: (tx, jobs) => createGrants(deps, tx, jobs),
  });
}
