/** The rate of a card that is in force at one hour, and its price for one unit. */
import type { Product, Rate, RateEntry, Tier } from '../../../src/core/catalogue.ts';
import type { Instant } from '../../../src/core/time.ts';
import { hundredths, tenThousandths } from './numbers.ts';

/** The price of one unit. */
export interface NaivePrice {
  /** In ten-thousandths. */
  readonly price: number;
  /** The level of the tier that the unit lies in; 0 where the rate has no tiers. */
  readonly level: number;
  /** Whether the tier of the whole quantity is that of all its units. */
  readonly isVolume: boolean;
}

/** The rate for these pricing values, else the one for no values; null where there is neither. */
export function naiveRateAt(
  entries: readonly RateEntry[],
  pricing: Readonly<Record<string, string>>,
  at: Instant,
): RateEntry | null {
  return rateOfValues(entries, pricing, at) ?? rateOfValues(entries, {}, at);
}

/**
 * Rates are added one after the other, the winner so far is kept or replaced. An addition erases what it
 * replaces before anything else is looked at.
 */
function rateOfValues(
  entries: readonly RateEntry[],
  values: Readonly<Record<string, string>>,
  at: Instant,
): RateEntry | null {
  let standing: RateEntry[] = [];
  for (const entry of [...entries].sort((a, b) => a.sequence - b.sequence)) {
    if (naivePairs(entry.pricingGroupValues) !== naivePairs(values)) continue;
    standing = standing.filter((earlier) => {
      if (earlier.startingAt !== entry.startingAt) return true;
      return earlier.endingBefore === null && entry.endingBefore !== null;
    });
    standing.push(entry);
  }
  let decides: RateEntry | null = null;
  for (const entry of standing) {
    if (at < entry.startingAt || at >= (entry.endingBefore ?? Number.POSITIVE_INFINITY)) continue;
    if (entry.endingBefore === null && decides !== null && decides.startingAt > entry.startingAt) continue;
    decides = entry;
  }
  return decides;
}

/** The price of the rate for unit number `unit`, counted in hundredths from 1. */
export function naiveListPrice(rate: Rate, unit: number): NaivePrice {
  if (rate.rateType === 'SUBSCRIPTION') throw new Error('subscriptions are not rated');
  if (!('tiers' in rate)) return { price: tenThousandths(rate.price), level: 0, isVolume: false };
  const { tier, level } = tierOfUnit(rate.tiers, unit);
  if (tier === null) throw new Error('the last tier has no end');
  return { price: tenThousandths(tier.price), level, isVolume: rate.tiersMode === 'volume' };
}

/** Null after the last tier. */
export function tierOfUnit<T extends Pick<Tier, 'size'>>(tiers: readonly T[], unit: number) {
  let bound = 0;
  let level = 0;
  for (const tier of tiers) {
    level += 1;
    bound += tier.size === null ? Number.POSITIVE_INFINITY : hundredths(tier.size);
    if (unit <= bound) return { tier, level };
  }
  return { tier: null, level: level + 1 };
}

/** Pairs of names and values as one text, whatever their order. */
export function naivePairs(values: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The version of a product that has started last. */
export function versionAt<Version extends Product['versions'][number]>(
  product: { readonly versions: readonly Version[] },
  at: Instant,
): Version {
  let current = product.versions[0];
  for (const version of product.versions)
    if (version.startingAt !== null && version.startingAt <= at) current = version;
  if (current === undefined) throw new Error('a product has a version');
  return current;
}

/** Where the tiers end, in hundredths. */
export function boundsOf(tiers: readonly { readonly size: { toString(): string } | null }[]): number[] {
  let bound = 0;
  return tiers.flatMap(({ size }) => {
    if (size === null) return [];
    bound += hundredths(String(size));
    return [bound];
  });
}
