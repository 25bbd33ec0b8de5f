/**
 * The percentage of a composite product over time: the rate after overrides, while the product is entitled. Spans are
 * cut when the rate changes, and when a new version of the product counts other products.
 */
import type {
  CompositeProduct,
  CompositeTerms,
  CompositeVersion,
  PercentageRate,
  Rate,
} from '../../core/catalogue.ts';
import type { Decimal } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { Override } from '../../core/terms/overrides.ts';
import { type Instant, type Interval, intersect } from '../../core/time.ts';
import type { CompositeOnCard } from '../lines/types.ts';
import { sortedKeys } from '../quantities/group-values.ts';
import { type PricedKey, termsSpans } from '../rates/line-terms.ts';
import { indexOverrides, type OverrideIndex } from '../rates/override-index.ts';
import type { ContractOverrides } from '../rates/overrides.ts';
import { hasVolumePrices, listedBands, type PriceBands, reachedBand } from '../rates/tiers.ts';

/** A stretch of time in which a composite is charged at one rate. */
export interface PercentageSpan {
  readonly interval: Interval;
  readonly rate: PercentageRate;
  /** As listed: a volume rate charges everything at one of them (`reachedIn`). */
  readonly bands: PriceBands;
  /** The rate of the rate card; null if only an OVERWRITE sets the percentage. */
  readonly listRate: Rate | null;
}

/**
 * The spans of `interval`, ascending. There is none while the composite has no rate or is not entitled. `overrides` are
 * `percentageOverrides`.
 */
export function percentageSpans(
  { product, rates }: CompositeOnCard,
  overrides: OverrideIndex,
  fiatCreditTypeId: string,
  interval: Interval,
): PercentageSpan[] {
  const key = pricedComposite(product, fiatCreditTypeId);
  return settingsSpans(product.versions, interval).flatMap((settings) =>
    termsSpans(rates, overrides, key, settings).flatMap(({ interval: span, terms, entitled }) => {
      if (terms === null || !entitled) return [];
      const rate = percentageRateOf(product, terms.rate);
      const listRate = terms.listed?.rate ?? null;
      return [{ interval: span, rate, bands: listedBands(rate), listRate }];
    }),
  );
}

/**
 * The span whose rate states the minimum of an invoice, until the minimum is due; undefined without spans. `spans` are
 * those of the `invoice`. Usage after the last span still changes what volume percentages charge, so after them the
 * minimum is due at the end of the invoice.
 */
export function minimumSpan(
  spans: readonly PercentageSpan[],
  invoice: Pick<Interval, 'end'>,
): PercentageSpan | undefined {
  const last = spans.at(-1);
  if (last === undefined || !spans.some(({ rate }) => hasVolumePrices(rate))) return last;
  return { ...last, interval: { start: last.interval.start, end: invoice.end } };
}

/** A composite has no group values. */
export function pricedComposite(product: CompositeProduct, fiatCreditTypeId: string): PricedKey {
  return {
    product,
    fiatCreditTypeId,
    pricingGroupValues: {},
    presentationGroupValues: {},
    billingFrequency: null,
  };
}

export function percentageRateOf({ id }: CompositeProduct, rate: Rate): PercentageRate {
  assert(
    rate.rateType === 'PERCENTAGE' || rate.rateType === 'TIERED_PERCENTAGE',
    `the rate of composite product ${id} is a percentage`,
  );
  return rate;
}

/** The bands of a span for a base of `whole`. */
export function reachedIn(
  { rate, bands }: Pick<PercentageSpan, 'rate' | 'bands'>,
  whole: Decimal,
): PriceBands {
  return hasVolumePrices(rate) ? reachedBand(bands, whole) : bands;
}

/** The span that `at` lies in. */
export function percentageAt(spans: readonly PercentageSpan[], at: Instant): PercentageSpan | undefined {
  return spans.find(({ interval }) => interval.start <= at && at < interval.end);
}

/**
 * The overrides of a contract for its percentages. A percentage has the unit of its base, so a unit in an override must
 * not cut a span.
 */
export function percentageOverrides(contract: ContractOverrides): OverrideIndex {
  const withUnit = ({ overwriteRate }: Override) => (overwriteRate?.creditTypeId ?? null) !== null;
  // The index of unchanged overrides exists already.
  if (!contract.overrides.some(withUnit)) return indexOverrides(contract);
  const overrides = contract.overrides.map((one) =>
    one.overwriteRate === null
      ? one
      : { ...one, overwriteRate: { ...one.overwriteRate, creditTypeId: null } },
  );
  return indexOverrides({ ...contract, overrides });
}

/** The interval, cut where another version counts other products. */
function settingsSpans(versions: readonly CompositeVersion[], within: Interval): Interval[] {
  const spans: { interval: Interval; settings: string }[] = [];
  for (const [index, version] of versions.entries()) {
    const start = version.startingAt ?? Number.NEGATIVE_INFINITY;
    const interval = intersect(within, { start, end: versions[index + 1]?.startingAt ?? null });
    if (interval === null) continue;
    const settings = settingsKey(version);
    const previous = spans.at(-1);
    if (previous?.settings === settings) {
      previous.interval = { start: previous.interval.start, end: interval.end };
    } else {
      spans.push({ interval, settings });
    }
  }
  return spans.map(({ interval }) => interval);
}

/** Independent of the order of ids and tags. */
function settingsKey(terms: CompositeTerms): string {
  return JSON.stringify([
    sortedKeys(terms.compositeProductIds),
    sortedKeys(terms.compositeTags),
    terms.excludeFreeUsage,
    terms.includeCompositeSpend,
  ]);
}
