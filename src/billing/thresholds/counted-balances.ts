/** Loads the balances that prepaid balance thresholds look at (docs/explanation/thresholds.md, "The balance"). */
import { customFieldsOf } from '../../core/custom-fields.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { PrepaidBalanceThreshold } from '../../core/terms/thresholds.ts';
import { contains, type Instant } from '../../core/time.ts';
import { isExcluded, isPrepaidFor } from '../../rating/thresholds/counted-balances.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import { loadRecurringCommits } from '../../store/balances/recurring-commits.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { loadCustomFields } from '../../store/custom-fields/custom-fields.ts';
import type { ThresholdContract } from './threshold-contracts.ts';

export interface WatchedBalance extends ThresholdContract {
  readonly prepaidBalance: PrepaidBalanceThreshold;
}

/** By contract: those with access at `now`. A fixed number of queries. */
export async function countedCommits(
  db: Database | Transaction,
  watched: readonly WatchedBalance[],
  now: Instant,
): Promise<Map<string, Commit[]>> {
  const customerIds = [...new Set(watched.map(({ contract }) => contract.customerId))];
  const all = await loadCommits(db, { customerIds, includeArchived: false });
  const open = all.filter(({ accessSchedule }) =>
    accessSchedule.segments.some(({ startingAt: start, endingBefore: end }) => contains({ start, end }, now)),
  );
  const ofSeats = await commitsOfSeats(db, open);
  const hasSpecifiers = watched.some(({ prepaidBalance }) => prepaidBalance.balanceSpecifiers.length > 0);
  const fields = await loadCustomFields(db, hasSpecifiers ? open.map(({ id }) => id) : []);
  return new Map(
    watched.map((one) => [
      one.contract.id,
      open.filter(
        (commit) =>
          !ofSeats.has(commit.id) &&
          isPrepaidFor(commit, one.contract, unitOf(one)) &&
          !isExcluded(commit.type, customFieldsOf(fields, commit.id), one.prepaidBalance.balanceSpecifiers),
      ),
    ]),
  );
}

/** The unit of the amounts of the threshold. */
export function unitOf({ prepaidBalance, fiatCreditTypeId }: WatchedBalance): string {
  return prepaidBalance.customCreditTypeId ?? fiatCreditTypeId;
}

/** Balances that are divided among seats: only one seat can use each part. */
async function commitsOfSeats(
  db: Database | Transaction,
  commits: readonly Commit[],
): Promise<ReadonlySet<string>> {
  const children = commits.filter(({ recurringCommitId }) => recurringCommitId !== null);
  const contractIds = [...new Set(children.flatMap(({ contractId }) => contractId ?? []))];
  const individual = new Set(
    (await loadRecurringCommits(db, contractIds))
      .filter(({ subscription }) => subscription?.allocation === 'INDIVIDUAL')
      .map(({ id }) => id),
  );
  return new Set(
    children.filter(({ recurringCommitId }) => individual.has(recurringCommitId ?? '')).map(({ id }) => id),
  );
}
