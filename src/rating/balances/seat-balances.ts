/** The ledger of one seat in a commit or credit that is divided among seats (docs/explanation/subscriptions.md). Pure. */
import { type Decimal, sum } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import type { Commit } from '../../core/terms/commits.ts';
import { isGrant, type LedgerEntry } from '../../core/terms/ledger.ts';
import { balanceOf, type LedgerFacts } from './ledger.ts';
import type { SeatShare } from './seat-shares.ts';

/** The share of one seat in a commit or credit. */
export interface ShareBalance {
  readonly commit: Commit;
  readonly share: SeatShare;
  /** Available now; never negative. */
  readonly balance: Decimal;
  /** The amount that the seat was granted, without manual entries; 0 while a payment for it is outstanding. */
  readonly granted: Decimal;
  readonly ledger: readonly LedgerEntry[];
}

/** The share follows the rules of its commit, like a segment with the amount and the movements of the seat alone. */
export function shareBalances(commit: Commit, facts: LedgerFacts): (share: SeatShare) => ShareBalance {
  const deductions = groupBy(facts.deductions, ({ seatId }) => seatId ?? null);
  const manualEntries = groupBy(facts.manualEntries, ({ seatId }) => seatId ?? null);
  return (share) => {
    const { seatId, amount } = share;
    const segments = [{ ...share.segment, amount }];
    const ofSeat = { ...commit, accessSchedule: { ...commit.accessSchedule, segments } };
    const { balance, ledger } = balanceOf(ofSeat, {
      ...facts,
      deductions: deductions.get(seatId) ?? [],
      manualEntries: manualEntries.get(seatId) ?? [],
    });
    return {
      commit,
      share,
      balance,
      granted: sum(ledger.filter(isGrant).map((entry) => entry.amount)),
      ledger,
    };
  };
}
