/** Whether issued invoices took no more from balances than these had. */
import { type Decimal, maximum, minimum, sum, ZERO } from '../../../core/decimal.ts';
import { groupBy } from '../../../core/group-by.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import type { BalanceDeduction, ManualEntry } from '../../../core/terms/ledger.ts';
import { rolledSegmentId } from '../../../rating/balances/rollover.ts';
import { loadCommits } from '../../../store/balances/commits.ts';
import { loadManualEntries } from '../../../store/balances/manual-balance-entries.ts';
import type { Database } from '../../../store/base/database.ts';
import { loadIssuedDeductions } from '../../../store/invoices/balance-deductions.ts';
import { loadCanceledPurchases } from '../../balances/canceled-purchases.ts';
import { loadDividedCommits } from '../../balances/seat-shares.ts';
import { loadWithheld } from '../../balances/withheld.ts';
import type { Difference } from './difference.ts';

/**
 * For each segment of the customer, archived ones too: the deductions of invoices that are not voided do not exceed its
 * amount (`segmentAmounts`). A segment that an edit has removed is not compared.
 */
export async function checkBalances(db: Database, customerId: string): Promise<Difference[]> {
  const commits = await loadCommits(db, { customerIds: [customerId], includeArchived: true });
  const ids = commits.map(({ id }) => id);
  const deductions = (await loadIssuedDeductions(db, ids)).filter(({ creditedAt }) => creditedAt === null);
  const byHand = await loadManualEntries(db, ids);
  const divided = await loadDividedCommits(db, commits);
  const isWithheld = await loadWithheld(db, commits);
  const canceled = await loadCanceledPurchases(db, commits);
  const rollsNothing = (source: Commit, heir: Commit) =>
    isWithheld(source) ||
    [source.archivedAt, canceled.get(source.id)?.at].some((end) => end != null && end < heir.createdAt);
  const amountOf = segmentAmounts({ commits, deductions, byHand, rollsNothing });
  return commits.flatMap((commit) =>
    (divided(commit)?.shares ?? commit.accessSchedule.segments).flatMap((segment): Difference[] => {
      const own = deductions.filter(({ segmentId }) => segmentId === segment.id);
      const expected = amountOf(commit, segment);
      const found = sum(own.map(({ amount }) => amount));
      const last = own.at(-1);
      if (last === undefined || found.lte(expected)) return [];
      return [overdrawn(commit, segment.id, last, { expected, found })];
    }),
  );
}

function overdrawn(
  { name, id }: Commit,
  segmentId: string,
  { invoiceId, contractId }: Pick<Difference, 'invoiceId' | 'contractId'>,
  numbers: Pick<Difference, 'expected' | 'found'>,
): Difference {
  const message = `invoices take more from ${JSON.stringify(name ?? id)}, segment ${segmentId}, than it had`;
  return {
    ...{ code: 'balance', message, invoiceId, contractId, field: 'value', ...numbers },
    ...{ lineNumber: null, lineName: null, window: null },
  };
}

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
function segmentAmounts({ commits, deductions, byHand, rollsNothing }: BalanceFacts) {
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
