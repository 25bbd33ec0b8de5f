/**
 * The charges of a subscription (docs/explanation/subscriptions.md, "Charges"). Drafts, issued invoices, previews and
 * the history of quantities all use this computation. Pure.
 *
 * Issued charges are part of the input: the result is the amount still owed, so that a change in the past never bills
 * anything twice.
 */
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import { derivedId } from '../../core/ids.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { BilledCharge, Subscription } from '../../core/terms/subscriptions.ts';
import { contains, formatInstant, type Instant, type Interval } from '../../core/time.ts';
import {
  periodsUntilNext,
  type SubscriptionPeriod,
  subscriptionPeriods,
} from '../periods/subscription-periods.ts';
import { type QuantityStep, quantitySteps } from '../quantities/subscription-quantities.ts';
import { walkBands } from '../rates/tiers.ts';
import { highestQuantity, type OpenQuantity, openQuantities, quantityAt } from './open-quantities.ts';
import {
  bandsFor,
  type PricedSubscription,
  type SubscriptionPrice,
  type SubscriptionPrices,
} from './prices.ts';
import { proratedBands } from './proration.ts';

/** A quantity for a billing period, or for the rest of it after an increase. */
export interface SubscriptionCharge extends PricedSubscription {
  /** Stable across computations. A charge is on one invoice at most. */
  readonly id: string;
  readonly subscriptionId: string;
  /** The billing period, cut to the time of the subscription. */
  readonly period: SubscriptionPeriod;
  /** The interval of the charged quantity. */
  readonly interval: Interval;
  /** The due date. */
  readonly at: Instant;
  /** The charge covers the units above this number, which matters if an override has tiers. */
  readonly level: Decimal;
  readonly quantity: Decimal;
  /** Whether its price is prorated. */
  readonly isProrated: boolean;
  readonly rounding: Subscription['prorationRounding'];
  /** Whether it joins the usage invoice that ends on its day. */
  readonly joinsUsageInvoice: boolean;
  /** Balances that are open at this instant may pay for it. */
  readonly payableAt: Instant;
}

export interface ChargesInput {
  readonly contract: Contract;
  readonly subscription: Subscription;
  readonly prices: SubscriptionPrices;
  /** The billed charges of the subscription. */
  readonly billed: readonly BilledCharge[];
  /** Charges due before this instant are not billed; null: all are. */
  readonly billedFrom: Instant | null;
  readonly now: Instant;
}

/**
 * The charges owed up to the end of the current billing period, by period and start. A period without a price, or that
 * is not entitled, has no charges.
 */
export function openCharges(input: ChargesInput): SubscriptionCharge[] {
  const { contract, subscription, now } = input;
  const steps = quantitySteps(subscription);
  const periods = periodsUntilNext(contract, subscription, now);
  const present = periods.find(({ interval }) => contains(interval, now));
  const horizon = present?.interval.end ?? Math.max(now, subscription.startingAt);
  return periods.flatMap((period) => chargesOfPeriod(input, period, steps)).filter(({ at }) => at <= horizon);
}

/** When a period begins or ends next, so that charges may be due; null: never. */
export function nextChargeDate(contract: Contract, subscription: Subscription, now: Instant): Instant | null {
  const { current, next } = subscriptionPeriods(contract, subscription, now);
  return current?.end ?? next?.start ?? null;
}

function chargesOfPeriod(
  { subscription, prices, billed, billedFrom }: ChargesInput,
  period: SubscriptionPeriod,
  steps: readonly QuantityStep[],
): SubscriptionCharge[] {
  const { interval, whole } = period;
  if (prices.priceAt(subscription, interval.start) === null) return [];
  const inArrears = subscription.collectionSchedule === 'ARREARS';
  if (inArrears && billedFrom !== null && interval.end <= billedFrom) return [];
  const covered = billed.filter((one) => contains(whole, one.interval.start));
  const isExempt = !inArrears && billedFrom !== null && interval.start < billedFrom;
  const exempt = isExempt
    ? highestQuantity(steps, { start: interval.start, end: Math.min(billedFrom, interval.end) })
    : ZERO;
  const { isProrated } = subscription;
  const open = openQuantities({ period: interval, steps, covered, exempt, isProrated });
  const hasBase = isExempt || covered.some((one) => one.interval.start === interval.start);
  const nothing = { interval, level: ZERO, quantity: ZERO };
  const isZero = !hasBase && quantityAt(steps, interval.start).eq(ZERO);
  return withIds(isZero ? [nothing, ...open] : open, subscription, billed).map(([id, one]) =>
    chargeOf(subscription, period, one, { id, isBase: !hasBase && one.interval.start === interval.start }),
  );
}

/** Numbers the charges with the same start, after those that are billed. */
function withIds(
  open: readonly OpenQuantity[],
  { id: subscriptionId }: Subscription,
  billed: readonly BilledCharge[],
): [string, OpenQuantity][] {
  const used = new Set(billed.map(({ id }) => id));
  return open.map((one) => {
    let number = 0;
    let id = chargeId(subscriptionId, one.interval.start, number);
    while (used.has(id)) {
      number += 1;
      id = chargeId(subscriptionId, one.interval.start, number);
    }
    used.add(id);
    return [id, one];
  });
}

function chargeId(subscriptionId: string, start: Instant, number: number): string {
  return derivedId('subscription-charge', subscriptionId, formatInstant(start), String(number));
}

function chargeOf(
  subscription: Subscription,
  period: SubscriptionPeriod,
  { interval, level, quantity }: OpenQuantity,
  { id, isBase }: { readonly id: string; readonly isBase: boolean },
): SubscriptionCharge {
  const { collectionSchedule, invoiceBehavior, invoicePlacement, startingAt } = subscription;
  const { whole } = period;
  const inArrears = collectionSchedule === 'ARREARS';
  const isImmediate = !inArrears && !isBase && invoiceBehavior === 'BILL_IMMEDIATELY';
  const isFirst = !inArrears && isBase && interval.start === startingAt;
  const isPart = interval.start !== whole.start || interval.end !== whole.end;
  return {
    id,
    subscriptionId: subscription.id,
    productId: subscription.productId,
    billingFrequency: subscription.billingFrequency,
    period,
    interval,
    at: (isBase && !inArrears) || isImmediate ? interval.start : period.interval.end,
    level,
    quantity,
    isProrated: subscription.isProrated && isPart,
    rounding: subscription.prorationRounding,
    joinsUsageInvoice: invoicePlacement === 'ON_USAGE_INVOICE' && !isImmediate && !isFirst,
    payableAt: inArrears ? interval.end - 1 : interval.start,
  };
}

/** The price of the charge: the price at the start of its period. Null: it has none for this payer. */
export function chargePrice(
  charge: SubscriptionCharge,
  prices: SubscriptionPrices,
  payer: Parameters<SubscriptionPrices['priceAt']>[2] = null,
): SubscriptionPrice | null {
  const price = prices.priceAt(charge, charge.period.interval.start, payer);
  if (price === null) return price;
  const bands = bandsFor(price, charge.level.plus(charge.quantity));
  if (!charge.isProrated) return { ...price, bands };
  const { interval, period, rounding } = charge;
  return { ...price, bands: proratedBands(bands, interval, period.whole, rounding) };
}

/** The total of the charge without commits and credits. */
export function chargeTotal({ level, quantity }: SubscriptionCharge, { bands }: SubscriptionPrice): Decimal {
  return sum(walkBands(bands, level, level.plus(quantity)).map(({ amount }) => amount));
}
