/** The counters of an invoice hour by hour, what their units cost, and which balances may pay for them. */
import type { CompositeProduct, Product, RateEntry } from '../../../src/core/catalogue.ts';
import type { Override } from '../../../src/core/terms/overrides.ts';
import { HOUR_MS, type Instant, type Interval } from '../../../src/core/time.ts';
import type { BookedBucket } from '../../../src/rating/balances/balance-book.ts';
import { type Fraction, isPositive, less, minus, NOTHING, negated, plus, ratio, times } from './fractions.ts';
import { type Band, cutByBands, type NaivePrices, pricesAt, pricesText } from './payer-prices.ts';
import { naivePairs, versionAt } from './rates.ts';

export interface NaiveDrawdownInput {
  readonly period: Interval;
  readonly products: readonly {
    readonly product: Product;
    readonly rateEntries: readonly RateEntry[];
    readonly usage: readonly NaiveUsage[];
  }[];
  /** Each counts only products and composites before it. */
  readonly composites: readonly {
    readonly product: CompositeProduct;
    readonly rateEntries: readonly RateEntry[];
  }[];
  /** Subscriptions with charges; default: none. */
  readonly subscribed?: readonly { readonly product: Product }[];
  readonly overrides: readonly Override[];
  readonly prioritization: 'LOWEST_MULTIPLIER' | 'EXPLICIT';
  readonly currency: string;
  /** The value of one of each custom unit, in hundredths. */
  readonly worths: ReadonlyMap<string, number>;
  /** In burn-down order. */
  readonly buckets: readonly BookedBucket[];
}

/** Balances are drawn down for usage, then for subscriptions, then for composites. */
export const KIND_RANKS = { USAGE: 0, SUBSCRIPTION: 1, COMPOSITE: 2 } as const;

/** The counter of one line key at the end of every hour, in hundredths. */
export interface NaiveUsage {
  readonly pricing: Readonly<Record<string, string>>;
  readonly presentation: Readonly<Record<string, string>>;
  readonly values: readonly number[];
}

export interface Claimant {
  readonly bucket: BookedBucket;
  readonly bands: readonly Band[];
}

export interface CounterHour {
  readonly at: Instant;
  readonly from: Fraction;
  readonly to: Fraction;
  /** Null: not charged. */
  readonly prices: NaivePrices | null;
  readonly claimants: readonly Claimant[];
  readonly name: string;
}

export interface Counter {
  /** Without the tier. */
  readonly line: string;
  readonly kind: keyof typeof KIND_RANKS;
  readonly groupValues: string;
  /** The hour that shows all of it; absent: each hour shows its own. */
  readonly shownAt?: Instant;
  readonly hours: readonly CounterHour[];
}

export function hoursOf({ start, end }: Interval): Instant[] {
  const hours: Instant[] = [];
  for (let at = start; at < end; at += HOUR_MS) hours.push(at);
  return hours;
}

export function usageCounters(
  input: NaiveDrawdownInput,
  { product, rateEntries, usage }: NaiveDrawdownInput['products'][number],
): Counter[] {
  return usage.map(({ pricing, presentation, values }) => {
    const groupValues = `${naivePairs(pricing)} ${naivePairs(presentation)}`;
    const whole = ratio(values.at(-1) ?? 0, 100);
    let from = NOTHING;
    const hours = hoursOf(input.period).map((at, index): CounterHour => {
      const { tags, name } = versionAt(product, at);
      const who = { productId: product.id, productTags: tags, pricing, presentation };
      const prices = pricesAt(input, rateEntries, who, at, null, whole);
      const claimants = input.buckets.flatMap((bucket): Claimant[] => {
        if (prices === null || !isOpen(bucket, at) || !mayPay(bucket, who)) return [];
        const own = pricesAt(input, rateEntries, who, at, bucket, whole);
        return own?.creditTypeId === bucket.creditTypeId ? [{ bucket, bands: own.bands }] : [];
      });
      const to = ratio(values[index] ?? 0, 100);
      const hour = { at, from, to, prices, claimants, name };
      from = to;
      return hour;
    });
    return { line: `${product.id} ${groupValues}`, kind: 'USAGE', groupValues, hours };
  });
}

/** The amounts spent, by product and unit, in each hour. */
interface Spent {
  readonly productId: string;
  readonly tags: readonly string[];
  readonly creditTypeId: string;
  readonly at: Instant;
  readonly amount: Fraction;
}

/** `counted` are the counters of usage and of subscriptions. */
export function compositeCounters(input: NaiveDrawdownInput, counted: readonly Counter[]): Counter[] {
  const spent = [...input.products, ...(input.subscribed ?? [])].flatMap(({ product }) =>
    counted
      .filter(({ line }) => line.startsWith(`${product.id} `))
      .flatMap((counter) => spentBy(product, counter)),
  );
  return input.composites.flatMap((composite) => {
    const counters = percentageCounters(input, composite, spent);
    const minimum = minimumCounter(input, composite, counters);
    const own = [...counters, ...minimum];
    spent.push(...own.flatMap((counter) => spentBy(composite.product, counter)));
    return own;
  });
}

function spentBy(product: Product, { hours, shownAt }: Counter): Spent[] {
  return hours.flatMap(({ at, from, to, prices }) =>
    prices === null
      ? []
      : [
          {
            productId: product.id,
            tags: versionAt(product, shownAt ?? at).tags,
            creditTypeId: prices.creditTypeId,
            at: shownAt ?? at,
            amount: minus(costUntil(prices.bands, to), costUntil(prices.bands, from)),
          },
        ],
  );
}

type Composite = NaiveDrawdownInput['composites'][number];

function percentageCounters(
  input: NaiveDrawdownInput,
  { product, rateEntries }: Composite,
  spent: readonly Spent[],
): Counter[] {
  const isComposite = (id: string) => input.composites.some((one) => one.product.id === id);
  const counted = spent.filter(({ productId, tags, at }) => {
    const version = versionAt(product, at);
    if (isComposite(productId) && !version.includeCompositeSpend) return false;
    return (
      version.compositeProductIds.includes(productId) ||
      version.compositeTags.some((tag) => tags.includes(tag))
    );
  });
  return [input.currency, ...input.worths.keys()].map((creditTypeId) => {
    const inUnit = counted.filter((one) => one.creditTypeId === creditTypeId);
    const whole = inUnit.reduce((sum, { amount }) => plus(sum, amount), NOTHING);
    let from = NOTHING;
    const hours = hoursOf(input.period).map((at): CounterHour => {
      const { tags, name } = versionAt(product, at);
      const who = { productId: product.id, productTags: tags, pricing: {}, presentation: {} };
      const own = pricesAt(input, rateEntries, who, at, null, whole);
      const claimants = input.buckets.flatMap((bucket): Claimant[] => {
        if (bucket.creditTypeId !== creditTypeId || !isOpen(bucket, at) || !mayPay(bucket, who)) return [];
        const prices = own === null ? null : pricesAt(input, rateEntries, who, at, bucket, whole);
        return prices === null ? [] : [{ bucket, bands: prices.bands }];
      });
      const to = inUnit.filter((one) => one.at === at).reduce((sum, { amount }) => plus(sum, amount), from);
      const prices = own === null ? null : { ...own, creditTypeId };
      const hour = { at, from, to, prices, claimants, name };
      from = to;
      return hour;
    });
    return { line: `${product.id} [] []`, kind: 'COMPOSITE', groupValues: '[] []', hours };
  });
}

/** One unit in the last hour that is charged, at the price of what is missing. */
function minimumCounter(
  { currency, worths, buckets }: NaiveDrawdownInput,
  { product }: Composite,
  counters: readonly Counter[],
): Counter[] {
  const [inCurrency] = counters;
  const charged = (inCurrency?.hours ?? []).filter(({ prices }) => prices !== null);
  const last = charged.at(-1);
  const minimum = last?.prices?.minimum ?? null;
  if (last === undefined || minimum === null) return [];
  const percentages = counters
    .flatMap((counter) => spentBy(product, counter))
    .reduce((sum, { creditTypeId, amount }) => {
      const worth = creditTypeId === currency ? ratio(1, 1) : ratio(worths.get(creditTypeId) ?? 0, 100);
      return plus(sum, times(amount, worth));
    }, NOTHING);
  const missing = minus(minimum, percentages);
  if (!isPositive(missing)) return [];
  const bands = [{ lower: NOTHING, upper: null, price: missing, level: 0 }];
  const one = ratio(1, 1);
  const hours = charged
    .filter((hour) => pricesText(hour.prices) === pricesText(last.prices))
    .map((hour) => ({
      ...hour,
      from: NOTHING,
      to: hour === last ? one : NOTHING,
      prices: { creditTypeId: currency, bands, card: '', minimum: null },
      claimants: buckets.flatMap((bucket): Claimant[] => {
        const { tags } = versionAt(product, hour.at);
        const who = { productId: product.id, productTags: tags, pricing: {}, presentation: {} };
        return bucket.creditTypeId === currency && isOpen(bucket, hour.at) && mayPay(bucket, who)
          ? [{ bucket, bands }]
          : [];
      }),
    }));
  return [{ line: `${product.id} minimum`, kind: 'COMPOSITE', groupValues: '[] []', hours }];
}

/** The cost of the units from 0 to a position; below 0 at the price of the first. */
function costUntil(bands: readonly Band[], position: Fraction): Fraction {
  const isBelow = less(position, NOTHING);
  const parts = isBelow
    ? cutByBands({ lower: position, upper: NOTHING }, bands)
    : cutByBands({ lower: NOTHING, upper: position }, bands);
  const cost = parts.reduce(
    (sum, { lower, upper, band }) => plus(sum, times(minus(upper, lower), band.price)),
    NOTHING,
  );
  return isBelow ? negated(cost) : cost;
}

export function isOpen({ access }: BookedBucket, at: Instant): boolean {
  return access.start <= at && at < access.end;
}

interface Subject {
  readonly productId: string;
  readonly productTags: readonly string[];
  readonly pricing: Readonly<Record<string, string>>;
  readonly presentation: Readonly<Record<string, string>>;
}

export function mayPay({ applicability }: BookedBucket, who: Subject): boolean {
  const { productIds, productTags, specifiers } = applicability;
  if (productIds.length === 0 && productTags.length === 0 && specifiers.length === 0) return true;
  if (productIds.includes(who.productId)) return true;
  if (who.productTags.some((tag) => productTags.includes(tag))) return true;
  return specifiers.some(
    (one) =>
      (one.productId ?? who.productId) === who.productId &&
      one.productTags.every((tag) => who.productTags.includes(tag)) &&
      !one.exclude.some((left) => left.productTags.every((tag) => who.productTags.includes(tag))) &&
      Object.entries(one.pricingGroupValues).every(([name, value]) => who.pricing[name] === value) &&
      Object.entries(one.presentationGroupValues).every(([name, value]) => who.presentation[name] === value),
  );
}
