/** The holds of the balances that a threshold counts (docs/explanation/thresholds.md, "Holds"). */
import type { Commit } from '../../core/terms/commits.ts';
import type { Instant } from '../../core/time.ts';
import { loadFamilies } from '../../store/balances/sharing-customers.ts';
import type { OutstandingHold } from '../../store/holds/outstanding-holds.ts';
import { outstandingHolds } from '../balance-queries/outstanding-holds.ts';
import type { BillingContext } from '../billing-context.ts';
import { unitOf, type WatchedBalance } from './counted-balances.ts';

export interface CountedBalance extends WatchedBalance {
  readonly counted: readonly Commit[];
}

/**
 * By contract: the holds of those that count them, which may draw on a balance that counts, of its customer or of others
 * who share it. Called after usage was read (`outstandingHolds`).
 */
export async function heldOfBalances(
  context: Pick<BillingContext, 'db' | 'eventFacts'>,
  balances: readonly CountedBalance[],
  now: Instant,
): Promise<Map<string, OutstandingHold[]>> {
  const counting = balances.filter(({ prepaidBalance }) => prepaidBalance.countHolds);
  if (counting.length === 0) return new Map();
  const families = await loadFamilies(
    context.db,
    counting.map(({ contract }) => contract.customerId),
  );
  const members = new Set(
    counting.flatMap(({ contract: { customerId } }) => [customerId, ...(families.get(customerId) ?? [])]),
  );
  const holds = await outstandingHolds(context, [...members], now);
  return new Map(counting.map((one) => [one.contract.id, holds.filter(countedBy(one))]));
}

function countedBy(one: CountedBalance): (hold: OutstandingHold) => boolean {
  const { contract, counted } = one;
  const segments = new Set(
    counted.flatMap(({ accessSchedule }) => accessSchedule.segments.map(({ id }) => id)),
  );
  return ({ customerId, creditTypeId, payers }) =>
    payers === null
      ? customerId === contract.customerId && creditTypeId === unitOf(one)
      : payers.some((id) => segments.has(id));
}
