/** Explains the lines of COMPOSITE products from the hours of the lines that they count. Pure. */
import { type Decimal, ONE, sum, ZERO } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import { isUsageLine, type UsageInvoiceLine } from '../../core/invoice.ts';
import type { OfferedBalance } from '../../core/invoice-balances.ts';
import { contains, type Interval } from '../../core/time.ts';
import type { UsageStep } from '../../core/usage-series.ts';
import type { Bucket } from '../balances/buckets.ts';
import type { Claim } from '../balances/draw-down.ts';
import {
  type PercentageSpan,
  percentageAt,
  percentageOverrides,
  percentageRateOf,
  percentageSpans,
  pricedComposite,
} from '../composites/percentage-spans.ts';
import type { CompositeOnCard } from '../lines/types.ts';
import { type LineTerms, overridesOfKey, termsSpans } from '../rates/line-terms.ts';
import type { OverrideIndex } from '../rates/override-index.ts';
import type { ContractOverrides } from '../rates/overrides.ts';
import { rateAt } from '../rates/rate-schedule.ts';
import { oneBand, type PriceBands, percentageBands, walkBands } from '../rates/tiers.ts';
import type { CounterPiece } from '../usage/line-key.ts';
import { type CounterSegment, movementOf } from '../usage/segments.ts';
import { claimedSegments } from '../usage/usage-claims.ts';
import { type CompositeBase, type CompositeBaseInput, createCompositeBase } from './composite-base.ts';
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
  ExplainedPayer,
  ExplainedPrice,
  MinimumExplanation,
} from './explanation.ts';
import { payerSteps, priceStep, shareStep, shareTotalStep, sumStep, tierStep, totalStep } from './formula.ts';

export interface CompositeExplanationInput extends CompositeBaseInput {
  readonly overrides: ContractOverrides;
  readonly fiatCreditTypeId: string;
  /** The value of one custom unit in the currency. */
  readonly worths: ReadonlyMap<string, Decimal>;
  /** The balances offered to the invoice, in burn-down order. */
  readonly balances: readonly OfferedBalance[];
}

interface Context extends CompositeExplanationInput {
  readonly index: OverrideIndex;
  readonly counting: CompositeBase;
  /** Covered lines by counter. */
  readonly paidOf: ReadonlyMap<string, SharedCounter['paid']>;
}

/** Null for a line that the terms do not produce. */
export type CompositeExplainer = (line: UsageInvoiceLine) => CompositeExplanation | MinimumExplanation | null;

export function createCompositeExplainer(input: CompositeExplanationInput): CompositeExplainer {
  const { composites, lines } = input;
  const covered = lines.filter(isUsageLine).filter(isPaidByBalance);
  const context: Context = {
    ...input,
    index: percentageOverrides(input.overrides),
    counting: createCompositeBase(input),
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

/** Percentages have a counter for each pricing unit, and the minimum has a separate one. */
function counterKey({ type, productId, creditTypeId }: UsageInvoiceLine): string {
  return `${type} ${productId} ${creditTypeId}`;
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
  const base = context.counting.explain(composite, line);
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
      piece: pieceOf(period, context.counting.steps(composite, line)),
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

/** The percentage of a span, or the payer's percentage at the time of its first payment. */
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
  /** Null: the price does not depend on the payer. */
  readonly bandsOf: ((terms: LineTerms) => PriceBands) | null;
}

/** The charges that balances may pay for in the time of the line. */
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

function explainMinimum(
  composite: CompositeOnCard,
  line: UsageInvoiceLine,
  context: Context,
): MinimumExplanation | null {
  const { period, index, fiatCreditTypeId, lines, base, worths, balances } = context;
  const span = percentageSpans(composite, index, fiatCreditTypeId, period).at(-1);
  // Charges of an earlier invoice of the billing period count too, and are not on this one.
  const isWhole = period.countedFrom === period.start;
  // It may also have charged a minimum that the current rate does not have.
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
