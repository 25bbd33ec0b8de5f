/** The cost basis of commits: the price paid per granted unit. */
import { type Decimal, divideTo20Places, sum, ZERO } from '../../core/decimal.ts';
import type { Commit } from '../../core/terms/commits.ts';

/**
 * The price paid per granted unit: invoiced total ÷ granted total, 0 without an invoice schedule.
 * `fiatPerAccessUnit` converts amounts in different units; null if there is no conversion. Returns null
 * without a needed conversion, and if nothing is granted.
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
