/**
 * The prices of units in one hour, depending on who pays: every bound is tried, and equal neighbours become one.
 */
import type { Rate, RateEntry } from '../../../src/core/catalogue.ts';
import type { Override } from '../../../src/core/terms/overrides.ts';
import type { Instant } from '../../../src/core/time.ts';
import type { BookedBucket } from '../../../src/rating/balances/balance-book.ts';
import { type Fraction, fraction, fractionText, larger, less, NOTHING, ratio, smaller } from './fractions.ts';
import { naiveApplicable, naiveEntitlement, naiveOverriddenPrice } from './overrides.ts';
import { boundsOf, naiveListPrice, naiveRateAt } from './rates.ts';

/** Units above `lower`, up to and including `upper`; the first band has all units below it too. */
export interface Band {
  readonly lower: Fraction;
  readonly upper: Fraction | null;
  readonly price: Fraction;
  readonly level: number;
  /** The tiers among which a whole quantity chose it, as text. */
  readonly among?: string;
}

export interface NaivePrices {
  readonly creditTypeId: string;
  readonly bands: readonly Band[];
  /** The rate of the card as text, which lines show: a change of it is a new line. */
  readonly card: string;
  /** The minimum of a composite. */
  readonly minimum: Fraction | null;
}

interface Terms {
  readonly overrides: readonly Override[];
  readonly prioritization: 'LOWEST_MULTIPLIER' | 'EXPLICIT';
  readonly currency: string;
}

interface Subject {
  readonly productId: string;
  readonly productTags: readonly string[];
  readonly pricing: Readonly<Record<string, string>>;
  readonly presentation: Readonly<Record<string, string>>;
  /** The frequency of a subscription. */
  readonly billingFrequency?: string;
}

/**
 * Null where nothing is charged: without a price, or not entitled. `whole`: the quantity of the counter in the end, which
 * decides the tier of volume prices.
 */
export function pricesAt(
  { overrides, prioritization, currency }: Terms,
  rateEntries: readonly RateEntry[],
  { productId, productTags, pricing, presentation, billingFrequency }: Subject,
  at: Instant,
  bucket: BookedBucket | null,
  whole: Fraction,
): NaivePrices | null {
  const entry = naiveRateAt(rateEntries, pricing, at);
  const commitRate = bucket?.rateType === 'COMMIT_RATE' ? (entry?.commitRate ?? null) : null;
  const list: Rate | null = commitRate ?? entry?.rate ?? null;
  const who = {
    ...{ productId, productTags, billingFrequency: billingFrequency ?? null },
    ...{ pricingGroupValues: pricing, presentationGroupValues: presentation },
    payer:
      bucket === null
        ? null
        : { id: bucket.id, recurringId: bucket.recurringId, usesCommitRate: commitRate !== null },
  };
  const applicable = naiveApplicable(overrides, who, at);
  if (!naiveEntitlement(applicable, entry?.entitled ?? true)) return null;
  const isExplicit = prioritization === 'EXPLICIT';
  const rates = [list, ...applicable.map(({ overwriteRate }) => overwriteRate?.rate ?? null)];
  const tierLists = [
    ...rates.map((rate) => (rate !== null && 'tiers' in rate ? rate.tiers : [])),
    ...applicable.map(({ tiers }) => tiers),
  ];
  const starts = [...new Set([0, ...tierLists.flatMap(boundsOf)])].sort((a, b) => a - b);
  const bands: { lower: Fraction; upper: Fraction | null; price: Fraction; level: number }[] = [];
  let creditTypeId = entry?.creditTypeId ?? currency;
  let isVolume = false;
  for (const start of starts) {
    const overridden = naiveOverriddenPrice(applicable, isExplicit, who, list, start + 1);
    const found = overridden ?? (list === null ? null : naiveListPrice(list, start + 1));
    if (found === null) return null;
    creditTypeId = overridden?.creditTypeId ?? creditTypeId;
    isVolume = found.isVolume;
    const price = ratio(found.price, 10_000);
    const before = bands.at(-1);
    if (before?.level === found.level && before.price.over * price.under === price.over * before.price.under)
      continue;
    if (before !== undefined) before.upper = ratio(start, 100);
    bands.push({ lower: ratio(start, 100), upper: null, price, level: found.level });
  }
  const card = JSON.stringify(entry?.rate ?? null);
  const minimum = minimumOf(applicable, entry?.rate ?? null);
  if (!isVolume) return { creditTypeId, bands, card, minimum };
  const among = bands.map(bandText).join();
  const reached = bands.find(({ upper }) => upper === null || !less(upper, whole));
  if (reached === undefined) throw new Error('the last band has no end');
  return { creditTypeId, bands: [{ ...reached, lower: NOTHING, upper: null, among }], card, minimum };
}

/** The minimum of the percentages of the last OVERWRITE, else of the card. */
function minimumOf(applicable: readonly Override[], list: Rate | null): Fraction | null {
  const overwrite = applicable.filter(({ type }) => type === 'OVERWRITE').at(-1)?.overwriteRate?.rate;
  const rate = overwrite ?? list;
  return rate !== null && 'minimum' in rate && rate.minimum !== null ? fraction(rate.minimum) : null;
}

/** The part of each band between two positions, where there is one. */
export function cutByBands({ lower, upper }: { lower: Fraction; upper: Fraction }, bands: readonly Band[]) {
  return bands.flatMap((band, index) => {
    const bottom = index === 0 ? lower : larger(lower, band.lower);
    const top = band.upper === null ? upper : smaller(upper, band.upper);
    return less(bottom, top) ? [{ lower: bottom, upper: top, band }] : [];
  });
}

/** Equal prices have the same text. */
export function pricesText(prices: NaivePrices | null): string {
  return JSON.stringify(
    prices === null ? null : [prices.creditTypeId, prices.card, prices.bands.map(bandText)],
  );
}

/** The text of a band, without its end, which the next one begins. */
export function bandText({ lower, price, level, among }: Band): string {
  return `${fractionText(lower)} ${fractionText(price)} ${level} ${among ?? ''}`;
}
