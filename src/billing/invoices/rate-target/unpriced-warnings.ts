/** Warnings of usage invoices about subscriptions without a rate. */
import type { BilledPeriod, UnpricedSubscription } from '../../../core/invoice.ts';
import { contains } from '../../../core/time.ts';
import type { UnpricedPeriod } from '../../../rating/subscriptions/unpriced-periods.ts';
import type { Contract } from '../../../store/contracts/contracts.ts';

/** One for each billing period of a subscription that begins in that of the invoice. `unpriced` is by contract. */
export function unpricedWarnings(
  unpriced: ReadonlyMap<string, readonly UnpricedPeriod[]>,
  { contract, period }: { readonly contract: Pick<Contract, 'id'>; readonly period: BilledPeriod },
): UnpricedSubscription[] {
  return (unpriced.get(contract.id) ?? [])
    .filter(({ interval }) => contains(period, interval.start))
    .map((one) => ({ kind: 'unpriced_subscription', ...one }));
}
