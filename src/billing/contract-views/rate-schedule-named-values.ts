/**
 * Group values that overrides name. If the card has no rate for exactly these values, the invoice bills them at the
 * overridden price, so the rate schedule of a contract has rows for them.
 */
import { createHash } from 'node:crypto';
import type { BillingFrequency, RateEntry } from '../../core/catalogue.ts';
import { groupBy } from '../../core/group-by.ts';
import type { Override } from '../../core/terms/overrides.ts';
import { contains, type Instant, type OpenInterval } from '../../core/time.ts';
import { compareText, type GroupValues, groupValuesKey } from '../../rating/quantities/group-values.ts';
import { versionAt } from '../../rating/quantities/product-spans.ts';
import { carriesAll, isExcluded } from '../../rating/quantities/specifiers.ts';
import { effectiveRates } from '../../rating/rates/rate-schedule.ts';
import type { StoredProduct } from '../../store/products/products.ts';
import type { RateSelector } from '../rate-cards/rate-selectors.ts';
import type { RateSegment } from '../rate-cards/read-rates.ts';

/** Group values, and their place among the rows of one rate. */
interface NamedValues {
  readonly place: string;
  readonly values: GroupValues;
}

/** The values named by the overrides in force at one instant. */
export interface NamedByOverrides {
  /** In their order. Values of keys other than the product's pricing group keys are dropped. */
  valuesOf(product: StoredProduct, billingFrequency: BillingFrequency | null): NamedValues[];
  /** Products with a contract-specific price, an OVERWRITE. */
  readonly overwrittenProductIds: readonly string[];
}

/** Overrides for usage that a commit pays for create no rate of the schedule. */
export function namedByOverrides(overrides: readonly Override[], at: Instant): NamedByOverrides {
  const inForce = overrides.filter(
    ({ startingAt, endingBefore, isCommitSpecific }) =>
      !isCommitSpecific && contains({ start: startingAt, end: endingBefore }, at),
  );
  // Conditions on presentation values apply to only part of the usage, so they create no rate.
  const naming = inForce
    .flatMap(({ specifiers }) => specifiers)
    .filter(
      (one) =>
        Object.keys(one.pricingGroupValues).length > 0 &&
        Object.keys(one.presentationGroupValues).length === 0,
    );
  const byProduct = groupBy(naming, ({ productId }) => productId);
  const overwritten = inForce
    .filter(({ type }) => type === 'OVERWRITE')
    .flatMap(({ productId, specifiers }) => [productId, ...specifiers.map((one) => one.productId)]);
  return {
    overwrittenProductIds: [...new Set(overwritten.filter((id) => id !== null))].sort(compareText),
    valuesOf(product, billingFrequency) {
      const { pricingGroupKey, tags } = versionAt(product, at);
      const places = new Map<string, GroupValues>();
      for (const one of [...(byProduct.get(product.id) ?? []), ...(byProduct.get(null) ?? [])]) {
        if (one.billingFrequency !== null && one.billingFrequency !== billingFrequency) continue;
        if (!carriesAll(tags, one.productTags) || isExcluded(one.exclude, tags)) continue;
        if (!Object.keys(one.pricingGroupValues).every((name) => pricingGroupKey.includes(name))) continue;
        places.set(placeOf(one.pricingGroupValues), one.pricingGroupValues);
      }
      return [...places]
        .map(([place, values]) => ({ place, values }))
        .sort((a, b) => compareText(a.place, b.place));
    },
  };
}

/** Bytes of a place as JSON: it is part of a page's cursor, which has to fit into a URL. */
const PLACE_BYTES_MAX = 300;

/**
 * One text per set of pairs, which orders the rows of the same rate: `groupValuesKey` if that is short. Longer ones
 * precede, in the order of their SHA-256.
 */
export function placeOf(values: GroupValues): string {
  const key = groupValuesKey(values);
  return Buffer.byteLength(JSON.stringify(key)) <= PLACE_BYTES_MAX
    ? key
    : `#${createHash('sha256').update(key).digest('hex')}`;
}

/** Whether the rate prices group values without a separate rate. */
export function isForAllOthers({ entry }: RateSegment): boolean {
  return Object.keys(entry.pricingGroupValues).length === 0;
}

/** The selectors, and for each one the fallback rates for the selected values. */
export function withRatesForAllOthers(selectors: readonly RateSelector[]): RateSelector[] {
  return selectors.flatMap(({ pricingGroupValues, partialPricingGroupValues, ...rest }) => {
    const own = {
      ...rest,
      ...(pricingGroupValues === undefined ? {} : { pricingGroupValues }),
      ...(partialPricingGroupValues === undefined ? {} : { partialPricingGroupValues }),
    };
    const names = pricingGroupValues ?? partialPricingGroupValues;
    return names === undefined ? [own] : [own, { ...rest, pricingGroupValues: {} }];
  });
}

/** The part of `interval` around `at` that none of the rates covers; null if one covers `at` itself. */
export function outsideOf(
  rates: readonly RateEntry[],
  interval: OpenInterval,
  at: Instant,
): OpenInterval | null {
  let { start, end } = interval;
  for (const { interval: own } of effectiveRates(rates)) {
    if (contains(own, at)) return null;
    if (own.end !== null && own.end <= at) start = Math.max(start, own.end);
    else end = end === null ? own.start : Math.min(end, own.start);
  }
  return { start, end };
}
