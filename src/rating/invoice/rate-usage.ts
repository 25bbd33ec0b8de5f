/**
 * Rates the usage products of a contract for one billing period: computes invoice lines and their distribution
 * over time from metered usage, the rates of the card and the contract's overrides.
 *
 * Owns: which segments give lines, zero lines and warnings. Does not own: prices and overrides (rates/),
 * quantities (usage/), composite products (composites/), which balance pays (balances/), loading the input.
 */
import type { Product } from '../../core/catalogue.ts';
import { assert } from '../../core/errors.ts';
import type { BilledPeriod, UnpricedUsage, UsageInvoiceLine } from '../../core/invoice.ts';
import type { UsageFilter } from '../../core/terms/contract.ts';
import type { Instant, Interval } from '../../core/time.ts';
import { linePayer } from '../balances/applied-lines.ts';
import type { Bucket } from '../balances/buckets.ts';
import { type ClaimedSegment, type Coverage, NO_COVERAGE } from '../balances/coverage.ts';
import { paidLines } from '../balances/paid-lines.ts';
import { type Claimants, claimedSegments, lineKeyText } from '../balances/usage-claims.ts';
import { type LineTerms, type PricedKey, termsSpans } from '../rates/line-terms.ts';
import { indexOverrides, type OverrideIndex } from '../rates/override-index.ts';
import type { RateBook } from '../rates/rate-schedule.ts';
import { type PriceBands, priceBands, tierOf } from '../rates/tiers.ts';
import type { ProductOnCard, RatedKeys, UsageLine, UsageRating, UsageRatingInput } from '../types.ts';
import { groupValuesKey, sortedKeys } from '../usage/group-values.ts';
import { indexUsage, type LineKey, lineKeys, type UsageIndex } from '../usage/line-key.ts';
import { type CounterRun, counterRuns, versionAt } from '../usage/product-spans.ts';
import {
  hasUsage,
  type Movement,
  movementOf,
  type PaidAmount,
  type Segment,
  segmentsOf,
  zeroAmount,
} from '../usage/segments.ts';
import { createLineCollector } from './line-collector.ts';
import { sortProducts } from './product-order.ts';

/** Usage to rate, with the balances that pay for it. */
export interface DrawnUsageInput extends UsageRatingInput {
  /** The balances that may pay, in burn-down order; default: none. */
  readonly buckets?: readonly Bucket[];
  /** The outcome of a drawdown; default: nobody pays for the customer. */
  readonly coverage?: Coverage;
  /** Rates only line keys of which something is covered. */
  readonly isCoveredOnly?: boolean;
}

/** Rated line keys with what the given balances may pay for. */
export interface ClaimingKeys extends RatedKeys {
  readonly claims: readonly ClaimedSegment[];
}

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
  /** Null: none may pay. */
  readonly claimants: Claimants | null;
  readonly coverage: Coverage;
  readonly isCoveredOnly: boolean;
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
  input: DrawnUsageInput,
  groupedBy: readonly string[] | null = null,
  billed: Interval = input.period,
): ClaimingKeys[] {
  return [...rateKeysByProduct(input, groupedBy, billed)];
}

/** `rateKeys`, which rates each product when the next one is asked for. */
export function* rateKeysByProduct(
  input: DrawnUsageInput,
  groupedBy: readonly string[] | null = null,
  billed: Interval = input.period,
): Generator<ClaimingKeys, void, undefined> {
  assertBoundaries(input, billed);
  const { period, boundaries, usageFilters, fiatCreditTypeId, buckets = [] } = input;
  const overrides = indexOverrides(input.overrides);
  const context: Context = {
    period,
    billed,
    boundaries,
    overrides,
    claimants:
      buckets.length === 0 ? null : { buckets, hasCommitSpecificPrices: overrides.hasCommitSpecific },
    coverage: input.coverage ?? NO_COVERAGE,
    isCoveredOnly: input.isCoveredOnly ?? false,
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
    LINE_ID_KINDS[line.type],
    line.productId,
    String(line.interval.start),
    groupValuesKey(line.pricingGroupValues),
    groupValuesKey(line.presentationGroupValues),
    String(line.tier?.level ?? 0),
    // A composite has one line for each pricing unit of what it counts.
    ...(line.productType === 'COMPOSITE' ? [line.creditTypeId] : []),
    ...(line.payer === null ? [] : [line.payer.segmentId]),
  ];
}

const LINE_ID_KINDS: Readonly<Record<UsageInvoiceLine['type'], string>> = {
  usage: 'usage-line',
  minimum: 'minimum-line',
  applied: 'applied-line',
};

function rateProduct({ product, rates }: ProductOnCard, context: Context): Omit<ClaimingKeys, 'product'> {
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
    claims: rated.flatMap(({ claims }) => claims),
    zeroLine: rated.findLast((one) => one.zeroLine !== null)?.zeroLine ?? null,
  };
}

function groupKeysOfRun({ pricingGroupKey, presentationGroupKey }: CounterRun): string {
  return groupKeysKey([...pricingGroupKey, ...presentationGroupKey]);
}

function groupKeysKey(names: readonly string[]): string {
  return JSON.stringify(sortedKeys(names));
}

type RatedKey = Pick<ClaimingKeys, 'lines' | 'warnings' | 'claims' | 'zeroLine'>;

const NOT_RATED: RatedKey = { lines: [], warnings: [], claims: [], zeroLine: null };

/** `zeroLine` is the line of a product without group keys that has no other line. */
function rateLineKey(product: Product, key: LineKey, rates: RateBook, context: Context): RatedKey {
  const priced = { product, fiatCreditTypeId: context.fiatCreditTypeId, billingFrequency: null, ...key };
  const keyText = lineKeyText({ productId: product.id, ...key });
  const stretches = context.coverage.get(keyText) ?? [];
  if (context.isCoveredOnly && stretches.length === 0) return NOT_RATED;
  const warnings: UnpricedUsage[] = [];
  const billed: BilledSegment[] = [];
  for (const segment of segmentsOf(priced, rates, context.overrides, context.billed)) {
    const movement = movementOf(segment);
    const { terms, entitled } = segment;
    if (!entitled) continue;
    if (terms !== null) billed.push({ segment, terms, bands: priceBands(terms.rate), movement });
    else if (!movement.low.eq(movement.high)) {
      warnings.push(unpriced(product, key, segment, movement));
    }
  }
  const claims = claimsOfKey(keyText, priced, billed, rates, context);
  const lines = billed.flatMap((one) =>
    paidLines(one, stretches, context.boundaries, (interval, amount) =>
      newLine(priced, interval, one.terms, amount, true),
    ),
  );
  if (lines.length === 0) {
    // Usage with quantity 0 (rounded away, or values of 0) is shown as one zero line.
    const used = billed.findLast(({ movement }) => hasUsage(movement));
    if (used !== undefined) lines.push(zeroLineOf(priced, used));
  }
  const last = key.keyless ? billed.at(-1) : undefined;
  return { lines, warnings, claims, zeroLine: last === undefined ? null : zeroLineOf(priced, last) };
}

function claimsOfKey(
  key: string,
  priced: PricedKey,
  billed: readonly BilledSegment[],
  rates: RateBook,
  { claimants, overrides }: Context,
): ClaimedSegment[] {
  if (claimants === null) return [];
  const segments = billed.map(({ segment, terms, bands }) => ({
    segment,
    creditTypeId: terms.creditTypeId,
    bands,
  }));
  const counter = {
    key,
    priced,
    segments,
    termsFor: (bucket: Bucket, within: Interval) => termsSpans(rates, overrides, priced, within, bucket),
    bandsOf: ({ rate }: LineTerms) => priceBands(rate),
  };
  return claimedSegments(counter, claimants);
}

function zeroLineOf(key: PricedKey & LineKey, { segment, terms, bands, movement }: BilledSegment): UsageLine {
  const amount = { ...zeroAmount(movement, bands), payer: null };
  return newLine(key, segment.interval, terms, amount, false);
}

function newLine(
  { product, pricingGroupValues, presentationGroupValues }: PricedKey,
  interval: Interval,
  { listed, creditTypeId }: LineTerms,
  { band, payer, quantity, total, windows }: PaidAmount,
  hasMoved: boolean,
): UsageLine {
  const { name, tags } = versionAt(product, interval.end - 1);
  return {
    type: 'usage',
    productId: product.id,
    productType: product.type,
    productTags: tags,
    name,
    creditTypeId: payer?.creditTypeId ?? creditTypeId,
    interval,
    quantity,
    unitPrice: band.price,
    total,
    pricingGroupValues,
    presentationGroupValues,
    tier: tierOf(band),
    payer: payer === null ? null : linePayer(payer),
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
