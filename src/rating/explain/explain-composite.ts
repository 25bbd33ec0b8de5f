/** Explains the lines of COMPOSITE products from the hours of the lines that they count. Pure. */
import { type Decimal, ONE, sum, ZERO } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import {
  type BilledPeriod,
  type InvoiceLine,
  isUsageLine,
  type LineWindow,
  type UsageInvoiceLine,
} from '../../core/invoice.ts';
import type { Instant, Interval } from '../../core/time.ts';
import { type CountingStretch, countingStretches, stretchAt } from '../composites/composite-parts.ts';
import { percentageAt, percentageOverrides, percentageSpans } from '../composites/percentage-spans.ts';
import { overridesOfKey } from '../rates/line-terms.ts';
import type { OverrideIndex } from '../rates/override-index.ts';
import type { ContractOverrides } from '../rates/overrides.ts';
import { rateAt } from '../rates/rate-schedule.ts';
import { percentageBands, walkBands } from '../rates/tiers.ts';
import type { CompositeOnCard, ProductOnCard } from '../types.ts';
import { versionAt } from '../usage/product-spans.ts';
import { explainPrice } from './explain-price.ts';
import type { CompositeExplanation, CountedLine, ExplainedBase, MinimumExplanation } from './explanation.ts';
import { priceStep, sumStep, tierStep, totalStep } from './formula.ts';

export interface CompositeExplanationInput {
  readonly period: BilledPeriod;
  readonly products: readonly ProductOnCard[];
  readonly composites: readonly CompositeOnCard[];
  readonly overrides: ContractOverrides;
  readonly fiatCreditTypeId: string;
  /** The value of one custom unit in the currency. */
  readonly worths: ReadonlyMap<string, Decimal>;
  /** All lines of the invoice. */
  readonly lines: readonly InvoiceLine[];
  /** Of all lines. */
  readonly hours: readonly LineWindow[];
}

interface Context extends CompositeExplanationInput {
  readonly index: OverrideIndex;
  readonly stretches: readonly CountingStretch[];
  readonly hoursOf: ReadonlyMap<number, readonly LineWindow[]>;
  /** Usage products whose charges on the invoice come to nothing. */
  readonly free: ReadonlySet<string>;
}

/** Null for a line that the terms do not give. */
export type CompositeExplainer = (line: UsageInvoiceLine) => CompositeExplanation | MinimumExplanation | null;

export function createCompositeExplainer(input: CompositeExplanationInput): CompositeExplainer {
  const { period, products, composites, lines } = input;
  const context: Context = {
    ...input,
    index: percentageOverrides(input.overrides),
    stretches: countingStretches(
      composites.map(({ product }) => product),
      products.map(({ product }) => product),
      { start: period.countedFrom, end: period.end },
    ),
    hoursOf: groupBy(input.hours, ({ position }) => position),
    free: freeProducts(lines),
  };
  return (line) => {
    const composite = composites.find(({ product }) => product.id === line.productId);
    if (composite === undefined) return null;
    return line.type === 'minimum'
      ? explainMinimum(composite, line, context)
      : explainPercentage(composite, line, context);
  };
}

function freeProducts(lines: readonly InvoiceLine[]): Set<string> {
  const byProduct = groupBy(
    lines.filter(isUsageLine).filter(({ productType }) => productType === 'USAGE'),
    ({ productId }) => productId,
  );
  const isFree = (own: readonly InvoiceLine[]) => own.every(({ total }) => total.eq(ZERO));
  return new Set([...byProduct].filter(([, own]) => isFree(own)).map(([id]) => id));
}

function explainPercentage(
  composite: CompositeOnCard,
  line: UsageInvoiceLine,
  context: Context,
): CompositeExplanation | null {
  const { period, index, fiatCreditTypeId } = context;
  const { product, rates } = composite;
  const at = line.interval.start;
  const spans = percentageSpans(composite, index, fiatCreditTypeId, period);
  const span = percentageAt(spans, at);
  if (span === undefined) return null;
  const key = {
    ...{ product, fiatCreditTypeId, billingFrequency: null },
    ...{ pricingGroupValues: {}, presentationGroupValues: {} },
  };
  const terms = { listed: rateAt(rates, {}, at), rate: span.rate };
  const decision = overridesOfKey(index, key).decisionAt(at);
  const price = explainPrice(terms, decision, line.tier?.level ?? null);
  const base = explainBase(composite, line, context);
  const unitPrice = price.band.price;
  const { baseAtStart: from, baseAtEnd: to } = base;
  const counted = sumStep(
    'base of this time',
    base.counted.map(({ amount }) => amount),
    sum(base.counted.map(({ amount }) => amount)),
  );
  if (from === null || to === null) {
    return { kind: 'composite', base, price, formula: [counted, priceStep(price)], recomputed: null };
  }
  const slices = walkBands(percentageBands(span.rate), from, to);
  const quantity = slices.find(({ band }) => band.level === price.band.level)?.quantity ?? ZERO;
  return {
    kind: 'composite',
    base,
    price,
    formula: [
      counted,
      tierStep(price.band, from, to, quantity),
      priceStep(price),
      totalStep(quantity, unitPrice),
    ],
    recomputed: { quantity, unitPrice, total: quantity.times(unitPrice) },
  };
}

function explainBase({ product }: CompositeOnCard, line: UsageInvoiceLine, context: Context): ExplainedBase {
  const { period, lines } = context;
  const version = versionAt(product, line.interval.start);
  const inUnit = [...lines.entries()].filter(
    ([, { creditTypeId, type }]) => creditTypeId === line.creditTypeId && type !== 'cpu_conversion',
  );
  const amountsIn = (time: Interval): CountedLine[] =>
    inUnit.flatMap(([position, one]) => {
      const amount = countedAmount(product.id, one, position, time, context);
      return amount === null ? [] : [{ position, name: one.name, amount }];
    });
  const totalIn = (time: Interval) => sum(amountsIn(time).map(({ amount }) => amount));
  const isWhole = period.countedFrom === period.start;
  return {
    productIds: version.compositeProductIds,
    tags: version.compositeTags,
    includesComposites: version.includeCompositeSpend,
    excludesFreeUsage: version.excludeFreeUsage,
    counted: amountsIn(line.interval),
    baseAtStart: isWhole ? totalIn({ start: period.start, end: line.interval.start }) : null,
    baseAtEnd: isWhole ? totalIn({ start: period.start, end: line.interval.end }) : null,
  };
}

/** What the composite counts of a line in a stretch of time; null where it counts nothing of it. */
function countedAmount(
  compositeId: string,
  line: InvoiceLine,
  position: number,
  time: Interval,
  { hoursOf, stretches, free }: Context,
): Decimal | null {
  if (!isUsageLine(line)) return null;
  const counts = (at: Instant) => {
    const counting = stretchAt(stretches, at).order.find((one) => one.compositeId === compositeId);
    if (counting === undefined || !counting.parts.has(line.productId)) return false;
    return !(counting.excludesFreeUsage && free.has(line.productId));
  };
  const hours = (hoursOf.get(position) ?? []).filter(
    ({ window }) => window.start >= time.start && window.start < time.end && counts(window.start),
  );
  return hours.length === 0 ? null : sum(hours.map(({ total }) => total));
}

function explainMinimum(
  composite: CompositeOnCard,
  line: UsageInvoiceLine,
  { period, index, fiatCreditTypeId, lines, worths }: Context,
): MinimumExplanation | null {
  const span = percentageSpans(composite, index, fiatCreditTypeId, period).at(-1);
  // What an earlier invoice of the billing period charged counts too, and is not on this one.
  const isWhole = period.countedFrom === period.start;
  // It may also have charged a minimum that the present rate does not have.
  const minimum = span?.rate.minimum ?? (isWhole ? null : ZERO);
  if (minimum === null) return null;
  const own = lines
    .filter(isUsageLine)
    .filter(({ productId, type }) => productId === line.productId && type === 'usage');
  const parts = own.map(({ total, creditTypeId }) => total.times(worths.get(creditTypeId) ?? ONE));
  const charged = sum(parts);
  const missing = minimum.minus(charged);
  return {
    kind: 'minimum',
    minimum,
    charged,
    formula: [
      sumStep('percentages of the period in the currency', parts, charged),
      `missing to the minimum: ${minimum.toFixed()} - ${charged.toFixed()} = ${missing.toFixed()}`,
    ],
    recomputed: isWhole ? { quantity: ONE, unitPrice: missing, total: missing } : null,
  };
}
