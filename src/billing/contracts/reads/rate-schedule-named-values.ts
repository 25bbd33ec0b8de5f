/**
 * Rates of a contract that its card does not list: group values that an override names and that the card prices
 * only by its fallback rate, the rate without group values. The invoice bills them at the overridden price, so
 * the schedule shows them as separate rows after the row of the fallback rate.
 */
import { createHash } from 'node:crypto';
import { contains, type Instant, type OpenInterval } from '../../../core/time.ts';
import type { ProductOverrides } from '../../../rating/rates/contract-rate.ts';
import { effectiveRates } from '../../../rating/rates/rate-schedule.ts';
import { compareText, type GroupValues, groupValuesKey } from '../../../rating/usage/group-values.ts';
import { versionAt } from '../../../rating/usage/product-spans.ts';
import type { Database } from '../../../store/database.ts';
import { loadRatesOfIdentities, rateIdentityKey, type StoredRateEntry } from '../../../store/rates.ts';
import type { RateSelector } from '../../rate-cards/rate-selectors.ts';
import type { RateSegment } from '../../rate-cards/read-rates.ts';

/** A rate for all others of the card, with what the contract's overrides say about its product. */
export interface RateForAllOthers {
  readonly segment: RateSegment;
  readonly overrides: ProductOverrides;
}

/** Bytes of a place as JSON: it stands in the cursor of a page, which a URL has to hold. */
const PLACE_BYTES_MAX = 300;

/**
 * Where the row of these values stands behind the rate for all others: one text per set of pairs, which is
 * `groupValuesKey` where that is short. Longer ones stand before those, in the order of their SHA-256.
 */
export function placeOf(values: GroupValues): string {
  const key = groupValuesKey(values);
  return Buffer.byteLength(JSON.stringify(key)) <= PLACE_BYTES_MAX
    ? key
    : `#${createHash('sha256').update(key).digest('hex')}`;
}

/** Whether the rate prices whatever group values have no rate of their own. */
export function isForAllOthers({ entry }: RateSegment): boolean {
  return Object.keys(entry.pricingGroupValues).length === 0;
}

/** The selectors, and for each the rates for all others that may stand in for what it selects. */
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

/**
 * The segments around `at` of the group values that overrides in force then name, per rate for all others,
 * in the order of `placeOf`. Values with a rate of their own at `at` are left out: the card lists
 * them; a segment ends where such a rate begins.
 */
export async function namedValueSegments(
  db: Database,
  rates: readonly RateForAllOthers[],
  at: Instant,
): Promise<RateSegment[][]> {
  const candidates = rates.map((rate) => candidatesOf(rate, at));
  const [first] = rates;
  if (first === undefined) return [];
  const { rateCardId } = first.segment.entry;
  const own = await loadRatesOfIdentities(
    db,
    rateCardId,
    candidates.flat().map(({ entry }) => entry),
  );
  return candidates.map((segments) =>
    segments.flatMap((segment) => {
      const interval = outsideOf(own.get(rateIdentityKey(segment.entry)) ?? [], segment.interval, at);
      return interval === null ? [] : [{ ...segment, interval }];
    }),
  );
}

function candidatesOf({ segment, overrides }: RateForAllOthers, at: Instant): RateSegment[] {
  const { pricingGroupKey: names } = versionAt(overrides.product, at);
  const values = new Map(
    namedValues(overrides, segment, at)
      .filter((named) => Object.keys(named).every((name) => names.includes(name)))
      .map((named) => [placeOf(named), named]),
  );
  return [...values]
    .sort(([a], [b]) => compareText(a, b))
    .map(([, pricingGroupValues]) => ({ ...segment, entry: { ...segment.entry, pricingGroupValues } }));
}

/** Conditions on presentation values hold for part of the usage only, so they make no rate. */
function namedValues(
  { product, contract }: ProductOverrides,
  { entry, productTags }: RateSegment,
  at: Instant,
): GroupValues[] {
  return contract.overrides
    .filter(({ startingAt, endingBefore }) => contains({ start: startingAt, end: endingBefore }, at))
    .flatMap(({ specifiers }) => specifiers)
    .filter(
      (one) =>
        (one.productId === null || one.productId === product.id) &&
        (one.billingFrequency === null || one.billingFrequency === entry.billingFrequency) &&
        one.productTags.every((tag) => productTags.includes(tag)) &&
        Object.keys(one.pricingGroupValues).length > 0 &&
        Object.keys(one.presentationGroupValues).length === 0,
    )
    .map(({ pricingGroupValues }) => pricingGroupValues);
}

/** The part of `interval` around `at` that none of the rates covers; null where one covers `at` itself. */
function outsideOf(
  rates: readonly StoredRateEntry[],
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
