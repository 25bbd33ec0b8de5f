/**
 * Rates the usage products of a contract for one billing period: computes invoice lines and their distribution
 * over time from metered usage, the rates of the card and the contract's overrides.
 *
 * Owns: which segments give lines, zero lines and warnings. Does not own: prices and overrides (rates/),
 * quantities (usage/), loading the input. There is no drawdown of commits and credits yet.
 */
import type { Product } from '../../core/catalogue.ts';
import { assert } from '../../core/errors.ts';
import type { BilledPeriod, InvoiceWarning, UsageInvoiceLine } from '../../core/invoice.ts';
import type { UsageFilter } from '../../core/terms/contract.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { LineTerms } from '../rates/line-terms.ts';
import { type ContractOverrides, overridesOf } from '../rates/overrides.ts';
import type { RateBook } from '../rates/rate-schedule.ts';
import type { ProductOnCard, UsageLine, UsageRating, UsageRatingInput } from '../types.ts';
import { groupValuesKey } from '../usage/group-values.ts';
import { indexUsage, type LineKey, lineKeys, type UsageIndex } from '../usage/line-key.ts';
import { counterRuns, versionAt } from '../usage/product-spans.ts';
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
import { sortProducts } from './product-order.ts';

interface Context {
  readonly fiatCreditTypeId: string;
  readonly period: BilledPeriod;
  readonly boundaries: readonly Instant[];
  readonly usage: UsageIndex;
  readonly overrides: ContractOverrides;
  readonly usageFilters: readonly UsageFilter[];
}

/** A priced, entitled segment. */
interface BilledSegment {
  readonly segment: Segment;
  readonly terms: LineTerms;
  readonly movement: Movement;
}

/**
 * The lines of a usage invoice in invoice order, and warnings for usage without a price. Pure. Throws if the
 * input is inconsistent (usage missing, steps outside the period), which is a bug of the caller.
 */
export function rateUsage(input: UsageRatingInput): UsageRating {
  assertBoundaries(input);
  const { period, boundaries, overrides, usageFilters, fiatCreditTypeId } = input;
  const context: Context = {
    period,
    boundaries,
    overrides,
    usageFilters,
    fiatCreditTypeId,
    usage: indexUsage(input.usage, period),
  };
  const products = input.products.map((onCard) => ({
    id: onCard.product.id,
    name: versionAt(onCard.product, period.end - 1).name,
    onCard,
  }));
  return joined(sortProducts(products, input.productOrder).map(({ onCard }) => rateProduct(onCard, context)));
}

/**
 * The parts from which `derivedId` computes a line's id, together with the invoice's id. The same terms and
 * usage give the same parts on every recomputation.
 */
export function lineIdParts(line: UsageInvoiceLine): string[] {
  return [
    'usage-line',
    line.productId,
    String(line.interval.start),
    groupValuesKey(line.pricingGroupValues),
    groupValuesKey(line.presentationGroupValues),
    String(line.tier?.level ?? 0),
  ];
}

function rateProduct({ product, rates }: ProductOnCard, context: Context): UsageRating {
  assert(product.type === 'USAGE', `product ${product.id} is a usage product`);
  const ownContext = { ...context, overrides: overridesOf(product, context.overrides) };
  const rated = counterRuns(product, context.period, context.usageFilters).flatMap((run) =>
    lineKeys(run, context.usage).map((key) => rateLineKey(product, key, rates, ownContext)),
  );
  const { lines, warnings } = joined(rated);
  if (lines.length > 0) return { lines: byStart(lines), warnings: byStart(warnings) };
  // A product without group keys has at least one line on every invoice, a zero line without usage.
  const zeroLine = rated.findLast((one) => one.zeroLine !== null)?.zeroLine ?? null;
  return { lines: zeroLine === null ? [] : [zeroLine], warnings: byStart(warnings) };
}

/** A stable sort by start: items of one start keep the order of group values and tiers. */
function byStart<Dated extends { readonly interval: Interval }>(dated: readonly Dated[]): Dated[] {
  return dated.toSorted((a, b) => a.interval.start - b.interval.start);
}

function joined(parts: readonly UsageRating[]): UsageRating {
  return { lines: parts.flatMap(({ lines }) => lines), warnings: parts.flatMap(({ warnings }) => warnings) };
}

/** `zeroLine` is the line of a product without group keys that has no other line. */
function rateLineKey(
  product: Product,
  key: LineKey,
  rates: RateBook,
  { period, boundaries, overrides, fiatCreditTypeId }: Context,
): UsageRating & { zeroLine: UsageLine | null } {
  const warnings: InvoiceWarning[] = [];
  const billed: BilledSegment[] = [];
  for (const segment of segmentsOf({ product, fiatCreditTypeId, ...key }, rates, overrides, period)) {
    const movement = movementOf(segment);
    const { terms, entitled } = segment;
    if (!entitled) continue;
    if (terms !== null) billed.push({ segment, terms, movement });
    else if (!movement.low.eq(movement.high)) {
      warnings.push(unpriced(product, key, segment, movement));
    }
  }
  const lines = billed.flatMap(({ segment, terms, movement }) =>
    bandAmounts(segment, movement, terms.rate, boundaries).map((amount) =>
      newLine(product, key, segment, terms, amount, true),
    ),
  );
  const zero = (one: BilledSegment | undefined) =>
    one === undefined
      ? null
      : newLine(product, key, one.segment, one.terms, zeroAmount(one.movement, one.terms.rate), false);
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
): InvoiceWarning {
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

function assertBoundaries({ period, boundaries }: UsageRatingInput): void {
  assert(period.start < period.end, 'a billing period has a length');
  assert(period.countedFrom <= period.start, 'counters start before what they bill');
  assert(
    boundaries[0] === period.start && boundaries.at(-1) === period.end,
    'windows begin and end with the billing period',
  );
  for (let index = 1; index < boundaries.length; index += 1) {
    assert((boundaries[index - 1] ?? 0) < (boundaries[index] ?? 0), 'window boundaries ascend');
  }
}
