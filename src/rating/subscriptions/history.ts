/** The quantities and costs of a subscription, up to a moment (docs/explanation/subscriptions.md, "History"). Pure. */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { Subscription } from '../../core/terms/subscriptions.ts';
import type { Instant } from '../../core/time.ts';
import { periodsUntilNext } from '../periods/subscription-periods.ts';
import { quantitySteps } from '../quantities/subscription-quantities.ts';
import { oneBand, type PriceBands, sameBands, walkBands } from '../rates/tiers.ts';
import { quantityAt } from './open-quantities.ts';
import { bandsFor, type SubscriptionPrices } from './prices.ts';

/** Units with one price; several rows only if an override has tiers. */
interface PricedQuantity {
  readonly quantity: Decimal;
  /** The price for a whole billing period. */
  readonly unitPrice: Decimal;
  readonly total: Decimal;
}

export interface QuantityHistoryEntry {
  readonly startingAt: Instant;
  readonly rows: readonly PricedQuantity[];
}

/**
 * An entry for each change of the quantity or of the price, ascending, up to `now`. The price of a billing period is
 * the price at its start; it is 0 if the subscription is not entitled or has no price.
 */
export function quantityHistory(
  contract: Contract,
  subscription: Subscription,
  prices: SubscriptionPrices,
  now: Instant,
): QuantityHistoryEntry[] {
  const steps = quantitySteps(subscription);
  const periods = periodsUntilNext(contract, subscription, now).map(({ interval }) => interval);
  const starts = new Set([...steps.map(({ at }) => at), ...periods.map(({ start }) => start)]);
  const end = periods.at(-1)?.end ?? subscription.startingAt;
  const entries: (QuantityHistoryEntry & { readonly bands: PriceBands; readonly quantity: Decimal })[] = [];
  for (const at of [...starts].sort((a, b) => a - b)) {
    const period = periods.findLast(({ start }) => start <= at);
    if (at > now || at >= end || period === undefined) break;
    const price = prices.priceAt(subscription, period.start);
    const quantity = quantityAt(steps, at);
    const bands = price === null ? oneBand(ZERO) : bandsFor(price, quantity);
    const before = entries.at(-1);
    if (before?.quantity.eq(quantity) && sameBands(before.bands, bands)) continue;
    entries.push({ startingAt: at, rows: pricedRows(quantity, bands), bands, quantity });
  }
  return entries.map(({ startingAt, rows }) => ({ startingAt, rows }));
}

function pricedRows(quantity: Decimal, bands: PriceBands): PricedQuantity[] {
  if (quantity.eq(ZERO)) return [{ quantity, unitPrice: bands[0].price, total: ZERO }];
  return walkBands(bands, ZERO, quantity).map(({ band, quantity: units, amount }) => ({
    quantity: units,
    unitPrice: band.price,
    total: amount,
  }));
}
