/**
 * Rates the usage products of a contract for one billing period: computes invoice lines and their distribution
 * over time from metered usage, the rates of the card and the contract's overrides.
 *
 * Owns: which segments give lines, zero lines and warnings. Does not own: prices and overrides (rates/),
 * quantities (usage/), composite products (composites/), loading the input. There is no drawdown of commits and
 * credits yet.
 */
import type { Product } from '../../core/catalogue.ts';
import { assert } from '../../core/errors.ts';
import type { BilledPeriod, UnpricedUsage, UsageInvoiceLine } from '../../core/invoice.ts';
import type { UsageFilter } from '../../core/terms/contract.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { LineTerms } from '../rates/line-terms.ts';
import { indexOverrides, type OverrideIndex } from '../rates/override-index.ts';
import type { RateBook } from '../rates/rate-schedule.ts';
import { type PriceBands, priceBands } from '../rates/tiers.ts';
import type { ProductOnCard, RatedKeys, UsageLine, UsageRating, UsageRatingInput } from '../types.ts';
import { groupValuesKey, sortedKeys } from '../usage/group-values.ts';
import { indexUsage, type LineKey, lineKeys, type UsageIndex } from '../usage/line-key.ts';
import { type CounterRun, counterRuns, versionAt } from '../usage/product-spans.ts';
import {
  type BandAmount,
  bandAmounts,
  hasUsage,
  type Movement,
  movementOf,
  type Segment,
  segmentsOf,
  zeroAmount,
} from '../usage/segments.ts';
import { createLineCollector } from './line-collector.ts';
import { sortProducts } from './product-order.ts';

interface Context {
  readonly fiatCreditTypeId: string;
  readonly period: BilledPeriod;
  readonly billed: Interval;
  readonly boundaries: readonly Instant[];
  readonly usage: UsageIndex;
  readonly overrides: OverrideIndex;
  readonly usageFilters: readonly UsageFilter[];
  /** Only runs with these group keys (`groupKeysKey`); null for all. */
  readonly groupedBy: string | null;
}

/** A priced, entitled segment. */
interface BilledSegment {
  readonly segment: Segment;
  readonly terms: LineTerms;
  readonly bands: PriceBands;
  readonly movement: Movement;
}

/**
 * The lines of a usage invoice in invoice order, and warnings for usage without a price. Pure. Throws if the
 * input is inconsistent (usage missing, steps outside the period), which is a bug of the caller.
 */
export function rateUsage(input: UsageRatingInput): UsageRating {
  const collector = createLineCollector(Number.POSITIVE_INFINITY);
  collector.add(rateKeys(input));
  const { lines, warnings } = collector.result();
  return { lines, warnings };
}

/**
 * Rates the line keys of the given usage, product by product in invoice order. Line keys do not depend on each
 * other, so the keys of an invoice may be rated in any parts; a line collector joins them. With `groupedBy`, only
 * runs with exactly these group keys are rated, and only their usage need be given.
 *
 * `billed` is the time that has lines: the period, or the part of the counters' time before it, whose lines are
 * on another invoice.
 */
export function rateKeys(
  input: UsageRatingInput,
  groupedBy: readonly string[] | null = null,
  billed: Interval = input.period,
): RatedKeys[] {
  return [...rateKeysByProduct(input, groupedBy, billed)];
}

/** `rateKeys`, which rates each product when the next one is asked for. */
export function* rateKeysByProduct(
  input: UsageRatingInput,
  groupedBy: readonly string[] | null = null,
  billed: Interval = input.period,
): Generator<RatedKeys, void, undefined> {
  assertBoundaries(input, billed);
  const { period, boundaries, overrides, usageFilters, fiatCreditTypeId } = input;
  const context: Context = {
    period,
    billed,
    boundaries,
    overrides: indexOverrides(overrides),
    usageFilters,
    fiatCreditTypeId,
    usage: indexUsage(input.usage, period),
    groupedBy: groupedBy === null ? null : groupKeysKey(groupedBy),
  };
  const products = input.products.map((onCard) => ({
    id: onCard.product.id,
    name: versionAt(onCard.product, period.end - 1).name,
    onCard,
  }));
  for (const { id, name, onCard } of sortProducts(products, input.productOrder)) {
    yield { ...rateProduct(onCard, context), product: { id, name } };
  }
}

/**
 * The parts from which `derivedId` computes a line's id, together with the invoice's id. The same terms and
 * usage give the same parts on every recomputation.
 */
export function lineIdParts(line: UsageInvoiceLine): string[] {
  return [
    line.type === 'usage' ? 'usage-line' : 'minimum-line',
    line.productId,
    String(line.interval.start),
    groupValuesKey(line.pricingGroupValues),
    groupValuesKey(line.presentationGroupValues),
    String(line.tier?.level ?? 0),
    // A composite has one line for each pricing unit of what it counts.
    ...(line.productType === 'COMPOSITE' ? [line.creditTypeId] : []),
  ];
}

function rateProduct({ product, rates }: ProductOnCard, context: Context): Omit<RatedKeys, 'product'> {
  assert(product.type === 'USAGE', `product ${product.id} is a usage product`);
  const runs = counterRuns(product, context.period, context.usageFilters).filter(
    (run) => context.groupedBy === null || context.groupedBy === groupKeysOfRun(run),
  );
  const rated = runs.flatMap((run) =>
    lineKeys(run, context.usage).map((key) => rateLineKey(product, key, rates, context)),
  );
  return {
    lines: rated.flatMap(({ lines }) => lines),
    warnings: rated.flatMap(({ warnings }) => warnings),
    zeroLine: rated.findLast((one) => one.zeroLine !== null)?.zeroLine ?? null,
  };
}

function groupKeysOfRun({ pricingGroupKey, presentationGroupKey }: CounterRun): string {
  return groupKeysKey([...pricingGroupKey, ...presentationGroupKey]);
}

function groupKeysKey(names: readonly string[]): string {
  return JSON.stringify(sortedKeys(names));
}

/** `zeroLine` is the line of a product without group keys that has no other line. */
function rateLineKey(
  product: Product,
  key: LineKey,
  rates: RateBook,
  { billed: billedTime, boundaries, overrides, fiatCreditTypeId }: Context,
): UsageRating & { zeroLine: UsageLine | null } {
  const warnings: UnpricedUsage[] = [];
  const billed: BilledSegment[] = [];
  const priced = { product, fiatCreditTypeId, billingFrequency: null, ...key };
  for (const segment of segmentsOf(priced, rates, overrides, billedTime)) {
    const movement = movementOf(segment);
    const { terms, entitled } = segment;
    if (!entitled) continue;
    if (terms !== null) billed.push({ segment, terms, bands: priceBands(terms.rate), movement });
    else if (!movement.low.eq(movement.high)) {
      warnings.push(unpriced(product, key, segment, movement));
    }
  }
  const lines = billed.flatMap(({ segment, terms, bands, movement }) =>
    bandAmounts(segment, movement, bands, boundaries).map((amount) =>
      newLine(product, key, segment, terms, amount, true),
    ),
  );
  const zero = (one: BilledSegment | undefined) =>
    one === undefined
      ? null
      : newLine(product, key, one.segment, one.terms, zeroAmount(one.movement, one.bands), false);
  if (lines.length === 0) {
    // Usage with quantity 0 (rounded away, or values of 0) is shown as one zero line.
    const usedZero = zero(billed.findLast(({ movement }) => hasUsage(movement)));
    if (usedZero !== null) lines.push(usedZero);
  }
  return { lines, warnings, zeroLine: key.keyless ? zero(billed.at(-1)) : null };
}

function newLine(
  product: Product,
  key: LineKey,
  { interval }: Segment,
  { rate, listed, creditTypeId }: LineTerms,
  { band, quantity, total, windows }: BandAmount,
  hasMoved: boolean,
): UsageLine {
  const { name, tags } = versionAt(product, interval.end - 1);
  const { level, startingAt, size } = band;
  return {
    type: 'usage',
    productId: product.id,
    productType: product.type,
    productTags: tags,
    name,
    creditTypeId,
    interval,
    quantity,
    unitPrice: band.price,
    total,
    pricingGroupValues: key.pricingGroupValues,
    presentationGroupValues: key.presentationGroupValues,
    tier: rate.rateType === 'TIERED' ? { level, startingAt, size } : null,
    listRate: listed?.rate ?? null,
    hasMoved,
    windows,
  };
}

function unpriced(
  product: Product,
  key: LineKey,
  { interval }: Segment,
  { from, to }: Movement,
): UnpricedUsage {
  const { name, billableMetricId } = versionAt(product, interval.end - 1);
  assert(billableMetricId !== null, `usage product ${product.id} has a metric`);
  return {
    kind: 'unpriced_usage',
    productId: product.id,
    productName: name,
    billableMetricId,
    pricingGroupValues: key.pricingGroupValues,
    presentationGroupValues: key.presentationGroupValues,
    interval,
    quantity: to.minus(from),
  };
}

function assertBoundaries({ period, boundaries }: UsageRatingInput, billed: Interval): void {
  assert(period.start < period.end, 'a billing period has a length');
  assert(period.countedFrom <= period.start, 'counters start before what they bill');
  assert(
    boundaries[0] === billed.start && boundaries.at(-1) === billed.end,
    'windows begin and end with the billed time',
  );
  for (let index = 1; index < boundaries.length; index += 1) {
    assert((boundaries[index - 1] ?? 0) < (boundaries[index] ?? 0), 'window boundaries ascend');
  }
}
