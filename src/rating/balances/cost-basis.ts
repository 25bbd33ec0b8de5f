/** What was paid for a commit. */
import { type Decimal, divideTo20Places, sum, ZERO } from '../../core/decimal.ts';
import type { Commit } from '../../core/terms/commits.ts';

/**
 * What was paid for one unit that is granted: the invoiced total ÷ the granted total, 0 without an invoice
 * schedule. `fiatPerAccessUnit` converts where the amounts differ in unit; null where nothing is known to:
 * then, and where nothing is granted, the answer is null.
 */
export function costBasis(commit: Commit, fiatPerAccessUnit: Decimal | null): Decimal | null {
  const { accessSchedule, invoiceSchedule } = commit;
  if (invoiceSchedule === null) return ZERO;
  const granted = sum(accessSchedule.segments.map((segment) => segment.amount));
  if (granted.lte(ZERO)) return null;
  const paid = sum(invoiceSchedule.items.map((item) => item.amount));
  if (accessSchedule.creditTypeId === invoiceSchedule.creditTypeId) return divideTo20Places(paid, granted);
  if (fiatPerAccessUnit === null || fiatPerAccessUnit.lte(ZERO)) return null;
  return divideTo20Places(paid, granted.times(fiatPerAccessUnit));
}
