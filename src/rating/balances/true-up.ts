/** The shortfall of a postpaid commit (docs/explanation/drawdown.md, "True-ups"). Pure. */
import { type Decimal, maximum, minimum, sum, ZERO } from '../../core/decimal.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { BalanceDeduction, ManualEntry, RolledAmount } from '../../core/terms/ledger.ts';

interface Movements {
  /** Amounts taken by voided invoices count as given back. */
  readonly deductions: readonly Pick<BalanceDeduction, 'amount' | 'creditedAt'>[];
  readonly manualEntries: readonly Pick<ManualEntry, 'amount'>[];
  /** The maximum that a renewal takes. */
  readonly rolledOver: readonly Pick<RolledAmount, 'amount'>[];
}

/**
 * The rest of the commitment after all invoices, manual entries and a renewal, in the unit of the access schedule.
 * Never negative.
 */
export function shortfallOf(
  { accessSchedule }: Pick<Commit, 'accessSchedule'>,
  { deductions, manualEntries, rolledOver }: Movements,
): Decimal {
  const taken = deductions.filter(({ creditedAt }) => creditedAt === null);
  const left = maximum(total(accessSchedule.segments).plus(total(manualEntries)).minus(total(taken)), ZERO);
  return left.minus(minimum(left, total(rolledOver)));
}

function total(parts: readonly { readonly amount: Decimal }[]): Decimal {
  return sum(parts.map(({ amount }) => amount));
}
