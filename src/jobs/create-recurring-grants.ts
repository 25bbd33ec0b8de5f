/** The job that creates the commits and credits of recurring terms. Its work is in `billing/contracts/grants/`. */

import type { RowContext } from '../billing/billing-context.ts';
import { createGrants } from '../billing/contracts/grants/grant-jobs.ts';
import { GRANT_JOB } from '../billing/contracts/grants/granted-terms.ts';
import type { Commit } from '../core/terms/commits.ts';
import type { SystemChange } from '../store/access/system-changes.ts';
import { type JobKind, shortJobKind } from './job-kind.ts';

/** Contracts per transaction, each with 200 children at most. */
const BATCH_MAX = 50;

export function recurringGrantsJobKind(context: RowContext): JobKind {
  return shortJobKind({
    kind: GRANT_JOB,
    batchMax: BATCH_MAX,
    run: (tx, jobs) => createGrants(context, tx, jobs),
    changes: (created) => created.map(granted),
  });
}

function granted({ id, type, recurringCommitId, contractId }: Commit): SystemChange {
  const isCredit = type === 'CREDIT';
  const what = isCredit ? 'a credit' : 'a commit';
  const origin = recurringCommitId === null ? 'rolled over to' : `of recurring terms ${recurringCommitId} of`;
  return {
    action: isCredit ? 'createCredit' : 'createCommit',
    resourceType: isCredit ? 'credit' : 'commit',
    resourceId: id,
    description: `Create ${what} ${origin} contract ${contractId}`,
  };
}
