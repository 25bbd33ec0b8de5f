/**
 * The remaining amounts of segments of commits and credits after issued invoices; for a rollover, only the part that
 * has arrived in it.
 */
import { type Decimal, maximum, minimum, sum, ZERO } from '../../../core/decimal.ts';
import { groupBy } from '../../../core/group-by.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import type { BalanceDeduction, ManualEntry } from '../../../core/terms/ledger.ts';
import { rolledSegmentId } from '../../../rating/balances/rollover.ts';

interface BalanceFacts {
  /** With those that have rolled over. */
  readonly commits: readonly Commit[];
  /** By issued invoices that are not voided. */
  readonly deductions: readonly BalanceDeduction[];
  /** By commit. */
  readonly byHand: ReadonlyMap<string, readonly ManualEntry[]>;
  /** Whether nothing rolls over from the commit, because it was over or withheld by its renewal. */
  readonly rollsNothing: (source: Commit, heir: Commit) => boolean;
}

/** A segment, or the share of a seat in one. */
interface Part {
  readonly id: string;
  readonly amount: Decimal;
}

/**
 * The amount of a segment with entries by hand. A rollover has the amount that issued invoices left of its source, at
 * most its own amount; a rollover of a rollover no more than the fraction that has arrived there. Manual entries that
 * total less than 0 do not count: they may deduct more than is left.
 */
export function segmentAmounts({ commits, deductions, byHand, rollsNothing }: BalanceFacts) {
  const byId = new Map(commits.map((commit) => [commit.id, commit]));
  const deductionsOf = groupBy(deductions, ({ segmentId }) => segmentId);
  const arrivedIn = (heir: Commit, { id, amount }: Part): Decimal => {
    const source = byId.get(heir.rolledOverFrom?.commitId ?? '');
    const from = source?.accessSchedule.segments.find(
      (one) => rolledSegmentId(heir.contractId ?? '', one.id) === id,
    );
    // An edit may have removed the segment after the rollover was fixed.
    if (source === undefined || from === undefined) return amount;
    if (rollsNothing(source, heir)) return ZERO;
    const taken = sum((deductionsOf.get(from.id) ?? []).map((one) => one.amount));
    const rolled = minimum(maximum(amountOf(source, from).minus(taken), ZERO), amount);
    const isRollover = source.rolledOverFrom !== null;
    return isRollover
      ? minimum(rolled, (source.rolloverFraction ?? ZERO).times(arrivedIn(source, from)))
      : rolled;
  };
  const amountOf = (commit: Commit, part: Part): Decimal => {
    const own = (byHand.get(commit.id) ?? []).filter(({ segmentId }) => segmentId === part.id);
    const granted = commit.rolledOverFrom === null ? part.amount : arrivedIn(commit, part);
    return granted.plus(maximum(sum(own.map(({ amount }) => amount)), ZERO));
  };
  return amountOf;
}
