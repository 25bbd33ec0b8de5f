/**
 * The lines of charges of subscriptions, and the parts that balances may pay (docs/explanation/subscriptions.md,
 * "Lines"). Pure.
 *
 * A charge is a counter that moves from the units below it to the units including it, in one window of its invoice.
 */
import { ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { Interval } from '../../core/time.ts';
import { linePayer, takenBack } from '../balances/applied-lines.ts';
import type { BalanceBook } from '../balances/balance-book.ts';
import { type Bucket, paysFor } from '../balances/buckets.ts';
import type { ClaimedSegment, Coverage } from '../balances/coverage.ts';
import type { Claim, Claimant } from '../balances/draw-down.ts';
import { paidBands } from '../balances/paid-bands.ts';
import type { RatedSubscriptionLine } from '../lines/types.ts';
import { versionAt } from '../quantities/product-spans.ts';
import { bandAt, tierOf } from '../rates/tiers.ts';
import { chargePrice, type SubscriptionCharge } from '../subscriptions/charges.ts';
import type { SubscriptionPrice, SubscriptionPrices } from '../subscriptions/prices.ts';
import { movementOf, type PaidAmount, paidAmounts } from '../usage/segments.ts';
import type { ScheduledItem } from './scheduled-items.ts';

/** An item of a subscription with the input of its lines. */
export interface PricedCharge {
  readonly item: ScheduledItem;
  readonly charge: SubscriptionCharge;
  readonly price: SubscriptionPrice;
  /** The name on the lines. */
  readonly name: string;
}

/** The items of subscriptions, in their order. */
export function pricedCharges(
  items: readonly ScheduledItem[],
  prices: SubscriptionPrices | null,
): PricedCharge[] {
  return items.flatMap((item) => {
    const { charge } = item;
    if (charge === null) return [];
    assert(prices !== null, 'a contract with charges of subscriptions has their prices');
    const price = chargePrice(charge, prices);
    assert(price !== null, `charge ${item.id} has a price`);
    const product = versionAt(prices.productOf(charge), charge.interval.end - 1);
    return [{ item, charge, price, name: item.name ?? product.name }];
  });
}

/** The parts that balances may pay. Balances that are open when a charge is payable may pay all of it. */
export function chargeClaims(
  charges: readonly PricedCharge[],
  prices: SubscriptionPrices | null,
  contractId: string,
  book: BalanceBook,
): ClaimedSegment[] {
  return charges.flatMap((one) => {
    const claimants = prices === null ? [] : claimantsOf(one, prices, contractId, book);
    return claimants.length === 0 ? [] : [claimedSegment(one, claimants)];
  });
}

function claimantsOf(
  { charge }: PricedCharge,
  prices: SubscriptionPrices,
  contractId: string,
  book: BalanceBook,
): Claimant[] {
  const { payableAt: at } = charge;
  const product = prices.productOf(charge);
  const subject = {
    productId: product.id,
    productType: product.type,
    productTags: versionAt(product, at).tags,
    pricingGroupValues: {},
    presentationGroupValues: {},
  };
  return book.sharedBucketsOf(contractId, { start: at, end: at + 1 }).flatMap((bucket) => {
    const price = paysFor(bucket, subject) ? chargePrice(charge, prices, bucket) : null;
    return price?.creditTypeId === bucket.creditTypeId ? [{ bucket, bands: price.bands }] : [];
  });
}

function claimedSegment(
  { item, charge, price, name }: PricedCharge,
  claimants: readonly Claimant[],
): ClaimedSegment {
  const claim: Claim = {
    key: keyOf(item),
    interval: charge.interval,
    from: charge.level,
    to: charge.level.plus(charge.quantity),
    overshoots: false,
    productType: 'SUBSCRIPTION',
    unitPrice: price.bands[0].price,
    name,
    groupValues: '',
    claimants,
    list: price.bands,
  };
  return { productId: charge.productId, key: claim.key, bands: price.bands, claims: [claim] };
}

function keyOf({ id }: ScheduledItem): string {
  return `subscription ${id}`;
}

/** Each charge with all of its lines in `window`: the covered parts with their applied lines, and the rest. */
export function chargeLines(
  charges: readonly PricedCharge[],
  prices: SubscriptionPrices | null,
  coverage: Coverage,
  window: Interval,
): RatedSubscriptionLine[] {
  return charges.flatMap((one) => {
    assert(prices !== null, 'charges have prices');
    const paid = coverage.get(keyOf(one.item))?.[0]?.bands ?? paidBands(one.price.bands, []);
    const { level, quantity } = one.charge;
    const steps = [{ at: window.end, value: quantity }];
    const positionOf = (value: typeof quantity) => value.plus(level);
    const piece = { interval: window, series: { groupValues: {}, steps }, positionOf };
    const segment = { interval: window, piece };
    const amounts = paidAmounts(segment, movementOf(segment), paid, [window.start, window.end]);
    return (amounts.length === 0 ? [nothing(one)] : amounts).flatMap((amount) => {
      const line = lineOf(one, prices, amount);
      return amount.payer === null ? [line] : [line, appliedCharge(line, amount.payer)];
    });
  });
}

function nothing({ price, charge }: PricedCharge): PaidAmount {
  const band = bandAt(price.bands, charge.level);
  return { band, payer: null, quantity: ZERO, total: ZERO, windows: [] };
}

function lineOf(
  { item, charge, price, name }: PricedCharge,
  prices: SubscriptionPrices,
  { band, payer, quantity, total, windows }: PaidAmount,
): RatedSubscriptionLine {
  const product = prices.productOf(charge);
  return {
    type: 'subscription',
    productId: product.id,
    productType: product.type,
    productTags: versionAt(product, charge.interval.end - 1).tags,
    name,
    creditTypeId: price.creditTypeId,
    interval: charge.interval,
    quantity,
    unitPrice: band.price,
    total,
    scheduleItemId: item.id,
    sourceId: charge.subscriptionId,
    isProrated: charge.isProrated,
    billingFrequency: charge.billingFrequency,
    pricedAt: charge.period.interval.start,
    unitsBelow: charge.level,
    tier: tierOf(band),
    payer: payer === null ? null : linePayer(payer),
    hasMoved: !quantity.eq(ZERO),
    windows,
  };
}

function appliedCharge(covered: RatedSubscriptionLine, payer: Bucket): RatedSubscriptionLine {
  return { ...covered, type: 'applied_subscription', ...takenBack(covered, payer) };
}
