/**
 * The charges of a subscription as counters that balances may pay for, hour by hour and in exact fractions. Written
 * from the rules (docs/explanation/subscriptions.md); shares no code with src/rating. Nothing is billed before.
 */
import type { Product, RateEntry } from '../../../src/core/catalogue.ts';
import { HOUR_MS, type Instant } from '../../../src/core/time.ts';
import { type Claimant, type Counter, isOpen, mayPay, type NaiveDrawdownInput } from './claimed-counters.ts';
import { ratio, times } from './fractions.ts';
import { type NaivePrices, pricesAt } from './payer-prices.ts';
import { isPeriodStart, type NaiveSubscription, quantitiesKnownAt } from './subscriptions.ts';

export interface NaiveSubscribed {
  readonly product: Product;
  readonly rateEntries: readonly RateEntry[];
  readonly subscription: NaiveSubscription;
}

interface NaiveCharge {
  readonly periodStart: Instant;
  readonly start: Instant;
  /** When a balance has to be open to pay for it. */
  readonly payableAt: Instant;
  readonly level: number;
  readonly units: number;
  /** Hours that are charged, and of the full period; the same where the full price is. */
  readonly hours: number;
  readonly whole: number;
}

/** The charges due until `now`: each rise above the highest quantity so far, from its hour to the end of its period. */
function chargesUntil(subscription: NaiveSubscription, now: Instant): NaiveCharge[] {
  const { frequency, anchor, start, end, mode, isProrated } = subscription;
  const quantities = quantitiesKnownAt(subscription, now);
  const isStart = (at: Instant) => isPeriodStart(frequency, anchor, at);
  const charges: NaiveCharge[] = [];
  let [periodStart, highest] = [start, 0];
  for (let at = start; at < end; at += HOUR_MS) {
    if (at === start || isStart(at)) [periodStart, highest] = [at, 0];
    const quantity = quantities[(at - start) / HOUR_MS] ?? 0;
    if (quantity <= highest) continue;
    let [wholeStart, wholeEnd] = [at, at + HOUR_MS];
    while (!isStart(wholeStart)) wholeStart -= HOUR_MS;
    while (!isStart(wholeEnd)) wholeEnd += HOUR_MS;
    const periodEnd = Math.min(end, wholeEnd);
    const isDueAtOnce = at === periodStart ? mode !== 'ARREARS' : mode === 'BILL_IMMEDIATELY';
    const whole = (wholeEnd - wholeStart) / HOUR_MS;
    if ((isDueAtOnce ? at : periodEnd) <= now) {
      charges.push({
        ...{ periodStart, start: at, level: highest, units: quantity - highest, whole },
        payableAt: mode === 'ARREARS' ? periodEnd - 1 : at,
        hours: isProrated ? (periodEnd - at) / HOUR_MS : whole,
      });
    }
    highest = quantity;
  }
  return charges;
}

/** `shownAt`: the hour of the invoice that has them. */
export function subscriptionCounters(
  input: NaiveDrawdownInput,
  { product, rateEntries, subscription }: NaiveSubscribed,
  now: Instant,
  shownAt: Instant,
): Counter[] {
  const [version] = product.versions;
  if (version === undefined) throw new Error('a product has a version');
  const who = {
    ...{ productId: product.id, productTags: version.tags, pricing: {}, presentation: {} },
    billingFrequency: subscription.frequency,
  };
  return chargesUntil(subscription, now).flatMap((charge): Counter[] => {
    const price = (bucket: Claimant['bucket'] | null) => {
      const units = ratio(charge.level + charge.units, 1);
      const full = pricesAt(input, rateEntries, who, charge.periodStart, bucket, units);
      return full === null ? null : prorated(full, charge);
    };
    const prices = price(null);
    if (prices === null) return [];
    const claimants = input.buckets.flatMap((bucket): Claimant[] => {
      if (!isOpen(bucket, charge.payableAt) || !mayPay(bucket, who)) return [];
      const own = price(bucket);
      return own?.creditTypeId === bucket.creditTypeId ? [{ bucket, bands: own.bands }] : [];
    });
    const [from, to] = [charge.level, charge.level + charge.units].map((units) => ratio(units, 1));
    if (from === undefined || to === undefined) return [];
    const hours = [{ at: charge.start, from, to, prices, claimants, name: version.name }];
    return [{ line: `${product.id} charges`, kind: 'SUBSCRIPTION', groupValues: '', shownAt, hours }];
  });
}

function prorated(prices: NaivePrices, { hours, whole }: NaiveCharge): NaivePrices {
  const part = ratio(hours, whole);
  return { ...prices, bands: prices.bands.map((band) => ({ ...band, price: times(band.price, part) })) };
}
