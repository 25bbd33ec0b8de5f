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
import type { OfferedBalance } from '../../core/invoice-balances.ts';
import { contains, type Instant, type Interval } from '../../core/time.ts';
import type { UsageStep } from '../../core/usage-series.ts';
import type { Bucket } from '../balances/buckets.ts';
import type { Claim } from '../balances/draw-down.ts';
import { claimedSegments, lineKeyText } from '../balances/usage-claims.ts';
import { type CountingStretch, countingStretches, stretchAt } from '../composites/composite-parts.ts';
import {
  type PercentageSpan,
  percentageAt,
  percentageOverrides,
  percentageRateOf,
  percentageSpans,
  pricedComposite,
} from '../composites/percentage-spans.ts';
import { type LineTerms, overridesOfKey, termsSpans } from '../rates/line-terms.ts';
import type { OverrideIndex } from '../rates/override-index.ts';
import type { ContractOverrides } from '../rates/overrides.ts';
import { rateAt } from '../rates/rate-schedule.ts';
import { oneBand, type PriceBands, percentageBands, walkBands } from '../rates/tiers.ts';
import type { CompositeOnCard, ProductOnCard } from '../types.ts';
import type { CounterPiece } from '../usage/line-key.ts';
import { versionAt } from '../usage/product-spans.ts';
import { type CounterSegment, movementOf } from '../usage/segments.ts';
import { explainPrice } from './explain-price.ts';
import {
  claimsIn,
  firstPaidAt,
  isPaidByBalance,
  payerOf,
  type SharedCounter,
  sharedResult,
  shareOf,
  usesCommitRate,
} from './explain-share.ts';
import type {
  CompositeExplanation,
  CountedLine,
  ExplainedBase,
  ExplainedPayer,
  ExplainedPrice,
  MinimumExplanation,
} from './explanation.ts';
import { payerSteps, priceStep, shareStep, shareTotalStep, sumStep, tierStep, totalStep } from './formula.ts';

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
  /** What it found to pay, in burn-down order. */
  readonly balances: readonly OfferedBalance[];
  /** How many lines of a consolidated invoice are before those of this invoice. */
  readonly before: number;
  /** The invoice as it would be without balances, which is what composites count. */
  readonly base: UnpaidInvoice;
}

interface UnpaidInvoice {
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
  /** The position on the invoice of each line of the base. */
  readonly positions: readonly number[];
  /** Covered lines by counter. */
  readonly paidOf: ReadonlyMap<string, SharedCounter['paid']>;
}

/** Null for a line that the terms do not give. */
export type CompositeExplainer = (line: UsageInvoiceLine) => CompositeExplanation | MinimumExplanation | null;

export function createCompositeExplainer(input: CompositeExplanationInput): CompositeExplainer {
  const { period, products, composites, lines, base } = input;
  const covered = lines.filter(isUsageLine).filter(isPaidByBalance);
  const context: Context = {
    ...input,
    index: percentageOverrides(input.overrides),
    stretches: countingStretches(
      composites.map(({ product }) => product),
      products.map(({ product }) => product),
      { start: period.countedFrom, end: period.end },
    ),
    hoursOf: groupBy(base.hours, ({ position }) => position),
    free: freeProducts(base.lines),
    positions: base.lines === lines ? [...lines.keys()] : positionsOf(base.lines, lines),
    paidOf: groupBy(covered, counterKey),
  };
  return (line) => {
    const composite = composites.find(({ product }) => product.id === line.productId);
    if (composite === undefined) return null;
    return line.type === 'minimum'
      ? explainMinimum(composite, line, context)
      : explainPercentage(composite, line, context);
  };
}

/** Percentages have a counter for each pricing unit, and the minimum one of its own. */
function counterKey({ type, productId, creditTypeId }: UsageInvoiceLine): string {
  return `${type} ${productId} ${creditTypeId}`;
}

/** Where lines without balances are on the invoice: at the first line of their key in their time. */
function positionsOf(base: readonly InvoiceLine[], lines: readonly InvoiceLine[]): number[] {
  const keyOf = (line: InvoiceLine) =>
    isUsageLine(line)
      ? `${line.type} ${lineKeyText(line)} ${line.productType === 'COMPOSITE' ? line.creditTypeId : ''}`
      : line.type;
  const byKey = groupBy([...lines.entries()], ([, line]) => keyOf(line));
  return base.map((line) => {
    const own = byKey.get(keyOf(line)) ?? [];
    const found = own.find(([, { interval }]) => contains(line.interval, interval.start)) ?? own[0];
    return found?.[0] ?? 0;
  });
}

/** Usage products whose lines add up to zero in every pricing unit. */
function freeProducts(lines: readonly InvoiceLine[]): Set<string> {
  const byProduct = groupBy(
    lines.filter(isUsageLine).filter(({ productType }) => productType === 'USAGE'),
    ({ productId }) => productId,
  );
  const isFree = (own: readonly InvoiceLine[]) =>
    [...groupBy(own, ({ creditTypeId }) => creditTypeId).values()].every((ofUnit) =>
      sum(ofUnit.map(({ total }) => total)).eq(ZERO),
    );
  return new Set([...byProduct].filter(([, own]) => isFree(own)).map(([id]) => id));
}

function explainPercentage(
  composite: CompositeOnCard,
  line: UsageInvoiceLine,
  context: Context,
): CompositeExplanation | null {
  const { period, index, fiatCreditTypeId, lines, balances } = context;
  const at = line.interval.start;
  const span = percentageAt(percentageSpans(composite, index, fiatCreditTypeId, period), at);
  if (span === undefined) return null;
  const base = explainBase(composite, line, context);
  const { baseAtStart: from, baseAtEnd: to } = base;
  const counted = sumStep(
    'base of this time',
    base.counted.map(({ amount }) => amount),
    sum(base.counted.map(({ amount }) => amount)),
  );
  const inSpan = (context.paidOf.get(counterKey(line)) ?? []).filter(({ interval }) =>
    contains(span.interval, interval.start),
  );
  if (inSpan.length > 0 && from !== null && to !== null) {
    const segment = {
      interval: span.interval,
      piece: pieceOf(period, baseSteps(composite, line, context)),
    };
    const bandsOf = ({ rate }: LineTerms) => percentageBands(percentageRateOf(composite.product, rate));
    const claims = compositeClaims(composite, line, context, { segment, bands: span.bands, bandsOf });
    const paid = inSpan.filter(({ interval }) => interval.start === at);
    const payer = payerOf(line, lines, balances);
    const price = compositePrice(composite, line, context, span, payer, { claims, paid });
    if (price === null) return null;
    const share = shareOf({ from, to, list: span.bands, claims, paid }, payer, line.tier?.level ?? 1);
    return { kind: 'composite', base, price, ...sharedResult(share, price, [counted]) };
  }
  const price = compositePrice(composite, line, context, span, null, { claims: [], paid: [] });
  if (price === null) return null;
  const unitPrice = price.band.price;
  const common = { kind: 'composite', base, price, share: null } as const;
  if (from === null || to === null) {
    return { ...common, formula: [counted, priceStep(price)], recomputed: null };
  }
  const slices = walkBands(percentageBands(span.rate), from, to);
  const quantity = slices.find(({ band }) => band.level === price.band.level)?.quantity ?? ZERO;
  return {
    ...common,
    formula: [
      counted,
      tierStep(price.band, from, to, quantity),
      priceStep(price),
      totalStep(quantity, unitPrice),
    ],
    recomputed: { quantity, unitPrice, total: quantity.times(unitPrice) },
  };
}

/** The percentage of a span, or that of a balance where it first pays. */
function compositePrice(
  { product, rates }: CompositeOnCard,
  line: UsageInvoiceLine,
  { index, fiatCreditTypeId }: Context,
  span: PercentageSpan,
  payer: ExplainedPayer | null,
  shared: Pick<SharedCounter, 'claims' | 'paid'>,
): ExplainedPrice | null {
  const key = pricedComposite(product, fiatCreditTypeId);
  const level = line.tier?.level ?? null;
  if (payer === null) {
    const at = line.interval.start;
    const terms = { listed: rateAt(rates, {}, at), rate: span.rate };
    return explainPrice(terms, overridesOfKey(index, key).decisionAt(at), level);
  }
  const { balance } = payer;
  const at = firstPaidAt(balance, shared, level ?? 1);
  if (at === undefined) return null;
  const terms = termsSpans(rates, index, key, span.interval, balance).find(({ interval }) =>
    contains(interval, at),
  )?.terms;
  if (terms === null || terms === undefined) return null;
  const isAtCommitRate = usesCommitRate(rates, {}, at, balance);
  const decision = overridesOfKey(index, key, { ...balance, usesCommitRate: isAtCommitRate }).decisionAt(at);
  return explainPrice(terms, decision, level, isAtCommitRate);
}

interface CompositeCounter {
  readonly segment: CounterSegment;
  readonly bands: PriceBands;
  /** Null: it costs the same, whoever pays. */
  readonly bandsOf: ((terms: LineTerms) => PriceBands) | null;
}

/** What balances may pay for in the time of the line. */
function compositeClaims(
  { product, rates }: CompositeOnCard,
  line: UsageInvoiceLine,
  { index, fiatCreditTypeId, balances }: Context,
  { segment, bands, bandsOf }: CompositeCounter,
): Claim[] {
  const { creditTypeId } = line;
  const priced = pricedComposite(product, fiatCreditTypeId);
  const termsFor = (bucket: Bucket, within: Interval) =>
    termsSpans(rates, index, priced, within, bucket).map((span) => ({
      ...span,
      terms: span.terms && { ...span.terms, creditTypeId },
    }));
  const counter = {
    key: counterKey(line),
    priced,
    segments: [{ segment, movement: movementOf(segment), creditTypeId, bands }],
    termsFor: bandsOf === null ? null : termsFor,
    bandsOf: bandsOf ?? (() => bands),
  };
  const claimants = { buckets: balances, hasCommitSpecificPrices: index.hasCommitSpecific };
  return claimsIn(line.interval, claimedSegments(counter, claimants));
}

function pieceOf(interval: Interval, steps: readonly UsageStep[]): CounterPiece {
  return { interval, series: { groupValues: {}, steps }, positionOf: (value) => value };
}

/** The base hour by hour, cumulative. */
function baseSteps({ product }: CompositeOnCard, line: UsageInvoiceLine, context: Context): UsageStep[] {
  const byEnd = new Map<Instant, Decimal>();
  for (const [position, one] of inUnitOf(line, context)) {
    for (const { window, total } of countedHours(product.id, one, position, context)) {
      byEnd.set(window.end, (byEnd.get(window.end) ?? ZERO).plus(total));
    }
  }
  let value = ZERO;
  return [...byEnd]
    .sort(([a], [b]) => a - b)
    .map(([at, amount]) => {
      value = value.plus(amount);
      return { at, value };
    });
}

/** The lines of the base that a percentage in the unit of the line can count. */
function inUnitOf({ creditTypeId }: UsageInvoiceLine, { base }: Context): [number, InvoiceLine][] {
  return [...base.lines.entries()].filter(
    ([, one]) => one.creditTypeId === creditTypeId && one.type !== 'cpu_conversion',
  );
}

function explainBase({ product }: CompositeOnCard, line: UsageInvoiceLine, context: Context): ExplainedBase {
  const { period, positions, before } = context;
  const version = versionAt(product, line.interval.start);
  const inUnit = inUnitOf(line, context);
  const amountsIn = (time: Interval): CountedLine[] =>
    inUnit.flatMap(([position, one]) => {
      const amount = countedAmount(product.id, one, position, time, context);
      if (amount === null) return [];
      return [{ position: before + (positions[position] ?? position), name: one.name, amount }];
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
  context: Context,
): Decimal | null {
  const hours = countedHours(compositeId, line, position, context).filter(({ window }) =>
    contains(time, window.start),
  );
  return hours.length === 0 ? null : sum(hours.map(({ total }) => total));
}

/** The hours of a line of the base that the composite counts. */
function countedHours(
  compositeId: string,
  line: InvoiceLine,
  position: number,
  { hoursOf, stretches, free }: Context,
): LineWindow[] {
  if (!isUsageLine(line)) return [];
  const counts = (at: Instant) => {
    const counting = stretchAt(stretches, at).order.find((one) => one.compositeId === compositeId);
    if (counting === undefined || !counting.parts.has(line.productId)) return false;
    return !(counting.excludesFreeUsage && free.has(line.productId));
  };
  return (hoursOf.get(position) ?? []).filter(({ window }) => counts(window.start));
}

function explainMinimum(
  composite: CompositeOnCard,
  line: UsageInvoiceLine,
  context: Context,
): MinimumExplanation | null {
  const { period, index, fiatCreditTypeId, lines, base, worths, balances } = context;
  const span = percentageSpans(composite, index, fiatCreditTypeId, period).at(-1);
  // What an earlier invoice of the billing period charged counts too, and is not on this one.
  const isWhole = period.countedFrom === period.start;
  // It may also have charged a minimum that the present rate does not have.
  const minimum = span?.rate.minimum ?? (isWhole ? null : ZERO);
  if (minimum === null) return null;
  const own = base.lines
    .filter(isUsageLine)
    .filter(({ productId, type }) => productId === line.productId && type === 'usage');
  const parts = own.map(({ total, creditTypeId }) => total.times(worths.get(creditTypeId) ?? ONE));
  const charged = sum(parts);
  const missing = minimum.minus(charged);
  const steps = [
    sumStep('percentages of the period in the currency', parts, charged),
    `missing to the minimum: ${minimum.toFixed()} - ${charged.toFixed()} = ${missing.toFixed()}`,
  ];
  const common = { kind: 'minimum', minimum, charged } as const;
  const paid = context.paidOf.get(counterKey(line)) ?? [];
  if (paid.length > 0 && span !== undefined && isWhole) {
    const { start, end } = span.interval;
    const segment = { interval: { start, end }, piece: pieceOf(period, [{ at: end, value: ONE }]) };
    const list = oneBand(missing);
    const claims = compositeClaims(composite, line, context, { segment, bands: list, bandsOf: null });
    const payer = payerOf(line, lines, balances);
    const share = shareOf({ from: ZERO, to: ONE, list, claims, paid }, payer, 1);
    const { quantity, total } = share;
    return {
      ...common,
      share,
      formula: [
        ...steps,
        ...(payer === null ? [] : payerSteps(payer, total)),
        shareStep(share),
        shareTotalStep(share, missing),
      ],
      recomputed: { quantity, unitPrice: missing, total },
    };
  }
  return {
    ...common,
    share: null,
    formula: steps,
    recomputed: isWhole ? { quantity: ONE, unitPrice: missing, total: missing } : null,
  };
}
