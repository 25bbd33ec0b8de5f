/** Explains the lines of COMPOSITE products from the hours of the lines that they count. Pure. */
import { type Decimal, ONE, sum, ZERO } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import { isUsageLine, type UsageInvoiceLine } from '../../core/invoice.ts';
import type { OfferedBalance } from '../../core/invoice-balances.ts';
import { contains } from '../../core/time.ts';
import type { UsageStep } from '../../core/usage-series.ts';
import type { Claim } from '../balances/draw-down.ts';
import {
  type CompositeSegment,
  claimsOfCharge,
  compositeSegment,
  counterOf,
} from '../composites/composite-lines.ts';
import {
  minimumSpan,
  type PercentageSpan,
  percentageAt,
  percentageOverrides,
  percentageSpans,
  pricedComposite,
  reachedIn,
} from '../composites/percentage-spans.ts';
import type { CompositeOnCard } from '../lines/types.ts';
import { overridesOfKey, termsSpans } from '../rates/line-terms.ts';
import type { OverrideIndex } from '../rates/override-index.ts';
import type { ContractOverrides } from '../rates/overrides.ts';
import { rateAt } from '../rates/rate-schedule.ts';
import { oneBand } from '../rates/tiers.ts';
import { type CompositeBase, type CompositeBaseInput, createCompositeBase } from './composite-base.ts';
import { explainPrice } from './explain-price.ts';
import {
  claimsIn,
  isPaidByBalance,
  payerOf,
  priceOfPayer,
  type SharedCounter,
  sharedResult,
  shareOf,
  tierResult,
} from './explain-share.ts';
import type { CompositeExplanation, ExplainedPrice, MinimumExplanation } from './explanation.ts';
import { priceStep, sumStep } from './formula.ts';

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
  const amounts = base.counted.map(({ amount }) => amount);
  const counted = sumStep('base of this time', amounts, sum(amounts));
  const inSpan = (context.paidOf.get(counterKey(line)) ?? []).filter(({ interval }) =>
    contains(span.interval, interval.start),
  );
  const priced = pricedComposite(composite.product, fiatCreditTypeId);
  const steps = context.counting.steps(composite, line);
  const bands = reachedIn(span, steps.at(-1)?.value ?? ZERO);
  if (inSpan.length > 0 && from !== null && to !== null) {
    const claims = compositeClaims(composite, line, context, { type: 'usage', span, counted: steps, bands });
    const paid = inSpan.filter(({ interval }) => interval.start === at);
    const payer = payerOf(line, lines, balances);
    const price =
      payer === null
        ? compositePrice(composite, line, context, span)
        : priceOfPayer({ line, priced, rates: composite.rates, overrides: index }, { claims, paid }, payer);
    if (price === null) return null;
    const share = shareOf({ from, to, list: bands, claims, paid }, payer, line.tier?.level ?? 1);
    return {
      kind: 'composite',
      base,
      price,
      ...sharedResult(share, price.band.price, [counted], [priceStep(price)]),
    };
  }
  const price = compositePrice(composite, line, context, span);
  const common = { kind: 'composite', base, price, share: null } as const;
  if (from === null || to === null) {
    return { ...common, formula: [counted, priceStep(price)], recomputed: null };
  }
  return { ...common, ...tierResult(bands, { from, to }, price, [counted]) };
}

/** The percentage of a span, as the customer pays it. */
function compositePrice(
  { product, rates }: CompositeOnCard,
  line: UsageInvoiceLine,
  { index, fiatCreditTypeId }: Context,
  { rate }: PercentageSpan,
): ExplainedPrice {
  const at = line.interval.start;
  const decision = overridesOfKey(index, pricedComposite(product, fiatCreditTypeId)).decisionAt(at);
  return explainPrice({ listed: rateAt(rates, {}, at), rate }, decision, line.tier?.level ?? null);
}

interface CompositeCounter extends Pick<CompositeSegment, 'type' | 'span' | 'bands'> {
  /** Cumulative. */
  readonly counted: readonly UsageStep[];
}

/** The charges that balances may pay for in the time of the line. */
function compositeClaims(
  { product, rates }: CompositeOnCard,
  { creditTypeId, interval }: UsageInvoiceLine,
  { index, fiatCreditTypeId, balances, period }: Context,
  { counted, ...counter }: CompositeCounter,
): Claim[] {
  const priced = pricedComposite(product, fiatCreditTypeId);
  const charged = compositeSegment(
    { product },
    { ...counter, creditTypeId, piece: counterOf(counted, { interval: period }) },
  );
  const claims = claimsOfCharge(
    { product, termsFor: (payer, within) => termsSpans(rates, index, priced, within, payer) },
    charged,
    priced,
    { buckets: balances, hasCommitSpecificPrices: index.hasCommitSpecific },
  );
  return claimsIn(interval, claims);
}

function explainMinimum(
  composite: CompositeOnCard,
  line: UsageInvoiceLine,
  context: Context,
): MinimumExplanation | null {
  const { period, index, fiatCreditTypeId, lines, base, worths, balances } = context;
  const span = minimumSpan(percentageSpans(composite, index, fiatCreditTypeId, period), period);
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
    const bands = oneBand(missing);
    const counted = [{ at: span.interval.end, value: ONE }];
    const claims = compositeClaims(composite, line, context, { type: 'minimum', span, counted, bands });
    const payer = payerOf(line, lines, balances);
    const share = shareOf({ from: ZERO, to: ONE, list: bands, claims, paid }, payer, 1);
    return { ...common, ...sharedResult(share, missing, steps) };
  }
  return {
    ...common,
    share: null,
    formula: steps,
    recomputed: isWhole ? { quantity: ONE, unitPrice: missing, total: missing } : null,
  };
}
