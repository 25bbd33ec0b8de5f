/** The price of a rate under a contract's overrides, and the time for which it is constant. Pure. */
import type { Product, RateEntry } from '../../core/catalogue.ts';
import { ownValue } from '../../core/own-value.ts';
import type { Instant, OpenInterval } from '../../core/time.ts';
import { type LineTerms, termsAt } from './line-terms.ts';
import { type ContractOverrides, overrideInstants, overridesOf } from './overrides.ts';
import { sameRate } from './rate-schedule.ts';

export interface PricedSegment {
  readonly terms: LineTerms;
  /** True where an override decides the price, even if it changes nothing. */
  readonly isOverridden: boolean;
  /** The time around the instant in which price and entitlement do not change. */
  readonly interval: OpenInterval;
}

/** The overrides that concern one product. */
export interface ProductOverrides {
  readonly product: Product;
  readonly contract: ContractOverrides;
}

/** The overrides that can concern usage of the product that no commit pays for; input of `pricedSegment`. */
export function productOverrides(product: Product, contract: ContractOverrides): ProductOverrides {
  const tags = new Set(product.versions.flatMap((version) => version.tags));
  const own = overridesOf(product, contract);
  const overrides = own.overrides.filter(
    ({ isCommitSpecific, specifiers }) =>
      !isCommitSpecific &&
      (specifiers.length === 0 ||
        specifiers.some(({ productTags }) => productTags.every((tag) => tags.has(tag)))),
  );
  return { product, contract: { ...own, overrides } };
}

/** The terms of an entitled rate of the card at `at`, which lies in the segment; null where it is not entitled. */
export function pricedSegment(
  { product, contract }: ProductOverrides,
  { entry, interval }: { readonly entry: RateEntry; readonly interval: OpenInterval },
  at: Instant,
): PricedSegment | null {
  const own = overridesOfEntry(contract, entry);
  const key = {
    product,
    fiatCreditTypeId: entry.creditTypeId,
    pricingGroupValues: entry.pricingGroupValues,
    presentationGroupValues: {},
  };
  const terms = termsAt(own, key, at, entry);
  if (!terms.entitled) return null;
  const cuts = own.overrides.length === 0 ? [] : changeInstants(own, product);
  const holdsAt = (instant: Instant) => sameTerms(terms, termsAt(own, key, instant, entry));
  return { terms, isOverridden: isOverridden(terms), interval: stretchAround(at, interval, cuts, holdsAt) };
}

/** Prefilter: removes overrides for other group values or another frequency. */
function overridesOfEntry(contract: ContractOverrides, entry: RateEntry): ContractOverrides {
  const { pricingGroupValues: values, billingFrequency: frequency } = entry;
  const overrides = contract.overrides.filter(
    ({ specifiers }) =>
      specifiers.length === 0 ||
      specifiers.some(
        ({ billingFrequency, pricingGroupValues }) =>
          (billingFrequency === null || billingFrequency === frequency) &&
          Object.entries(pricingGroupValues).every(([name, value]) => ownValue(values, name) === value),
      ),
  );
  return { ...contract, overrides };
}

/** Where terms may change: an override begins or ends, or a new version of the product has other tags. */
function changeInstants(contract: ContractOverrides, { versions }: Product): Instant[] {
  const instants = [...overrideInstants(contract), ...versions.flatMap(({ startingAt }) => startingAt ?? [])];
  return [...new Set(instants)].sort((a, b) => a - b);
}

/**
 * The part of `within` around `at` in which `holdsAt` is true. It may change only at the ascending `cuts`.
 */
function stretchAround(
  at: Instant,
  within: OpenInterval,
  cuts: readonly Instant[],
  holdsAt: (instant: Instant) => boolean,
): OpenInterval {
  const starts = [within.start, ...cuts.filter((cut) => within.start < cut && cut <= at)];
  const before = starts.findLastIndex((start) => !holdsAt(start));
  const after = cuts.filter((cut) => at < cut && (within.end === null || cut < within.end));
  return {
    start: starts[before + 1] ?? at,
    end: after.find((cut) => !holdsAt(cut)) ?? within.end,
  };
}

/** Compares identity: resolution returns the listed rate object itself if no override applies. */
function isOverridden({ rate, listed }: LineTerms): boolean {
  return rate !== listed?.rate;
}

function sameTerms(a: LineTerms, b: LineTerms): boolean {
  return (
    a.entitled === b.entitled &&
    a.creditTypeId === b.creditTypeId &&
    isOverridden(a) === isOverridden(b) &&
    sameRate(a.rate, b.rate)
  );
}
