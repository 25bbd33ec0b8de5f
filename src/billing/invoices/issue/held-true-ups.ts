/**
 * True-ups that are held after their date, because usage of the commit's access is not on issued invoices yet
 * (docs/explanation/drawdown.md, "True-ups").
 */
import type { Commit } from '../../../core/terms/commits.ts';
import type { Instant, Interval } from '../../../core/time.ts';
import { periodsOverlapping } from '../../../rating/periods/billing-periods.ts';
import { loadCommits } from '../../../store/balances/commits.ts';
import type { Transaction } from '../../../store/base/database.ts';
import type { Contract } from '../../../store/contracts/contracts.ts';
import { lastIssuedPeriodEnds } from '../../../store/invoices/issued-periods.ts';
import { loadDrawingContracts, mayDrawOn } from '../../balances/drawing-contracts.ts';
import type { ScheduledTarget } from '../../invoice-queue/open-items.ts';
import {
  billsUsage,
  finalizationAt,
  nextUnissuedPeriod,
  periodTerms,
} from '../../invoice-queue/usage-periods.ts';

/** By commit: when the last usage invoice that may draw on it is due. Commits whose usage is issued are absent. */
export async function heldTrueUps(
  tx: Transaction,
  targets: readonly ScheduledTarget[],
  gracePeriodHours: number,
): Promise<Map<string, Instant>> {
  const ids = targets.flatMap(({ trueUpCommitId }) => trueUpCommitId ?? []);
  if (ids.length === 0) return new Map();
  const commits = await loadCommits(tx, { ids, includeArchived: false });
  const contracts = (await loadDrawingContracts(tx, commits)).filter(billsUsage);
  const issuedUntil = await lastIssuedPeriodEnds(
    tx,
    contracts.map(({ id }) => id),
  );
  return new Map(
    commits.flatMap((commit) => {
      const ends = contracts
        .filter((contract) => mayDrawOn(contract, commit))
        .flatMap((contract) => lastUnissuedPeriod(contract, issuedUntil.get(contract.id), commit) ?? []);
      const heldUntil = ends.map((period) => finalizationAt(period, gracePeriodHours));
      return heldUntil.length === 0 ? [] : [[commit.id, Math.max(...heldUntil)]];
    }),
  );
}

/** The last billing period in the access of the commit, if its invoice is not issued. */
function lastUnissuedPeriod(
  contract: Contract,
  issuedUntil: Instant | undefined,
  { accessSchedule }: Commit,
): Interval | null {
  const first = nextUnissuedPeriod(contract, issuedUntil);
  if (first === null) return null;
  const periods = accessSchedule.segments.flatMap(({ startingAt, endingBefore }) => {
    const start = Math.max(startingAt, first.start);
    return start < endingBefore
      ? periodsOverlapping(periodTerms(contract), { start, end: endingBefore })
      : [];
  });
  return periods.at(-1) ?? null;
}
