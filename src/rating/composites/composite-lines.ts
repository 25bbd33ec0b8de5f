/** Makes the invoice lines of a composite product from its base and its minimums. */
import { ONE } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import { type Instant, type Interval, intersect } from '../../core/time.ts';
import type { UsageStep } from '../../core/usage-series.ts';
import type { UsageLine } from '../types.ts';
import type { CounterPiece } from '../usage/line-key.ts';
import { versionAt } from '../usage/product-spans.ts';
import { type BandAmount, bandAmounts, movementOf, zeroAmount } from '../usage/segments.ts';
import type { ChargedComposite, CompositeCharge, MinimumCharge } from './composite-charges.ts';
import { type CountingStretch, stretchAt } from './composite-parts.ts';
import type { PercentageSpan } from './percentage-spans.ts';
import type { ProductSpend } from './spend-collector.ts';

/** What one invoice charges for usage, hour by hour. */
export interface BilledSpend {
  /** What it bills. */
  readonly interval: Interval;
  /** Of the hours. */
  readonly boundaries: readonly Instant[];
  readonly spends: readonly ProductSpend[];
}

export interface BilledLines extends BilledSpend {
  /** Its usage lines in its order. */
  readonly lines: readonly UsageLine[];
}

interface LinesContext {
  readonly billed: BilledLines;
  readonly stretches: readonly CountingStretch[];
  readonly fiatCreditTypeId: string;
}

/** The lines of one composite, by start, pricing unit and tier; its minimum is last. */
export function compositeLines(
  one: ChargedComposite,
  charge: CompositeCharge,
  context: LinesContext,
): UsageLine[] {
  const { bases, minimums } = charge;
  const { billed, fiatCreditTypeId } = context;
  const spans = one.spans.filter(({ interval }) => intersect(interval, billed.interval) !== null);
  // In the order of the invoice. Only a minimum can be in a unit without lines.
  const units = new Set([...billed.lines.map(({ creditTypeId }) => creditTypeId), ...bases.keys()]);
  const percentages = spans.flatMap((span) =>
    [...units].flatMap((unit) =>
      percentageLines(one, span, unit, counterOf(bases.get(unit) ?? [], billed), billed),
    ),
  );
  const added = minimums
    .filter(({ window }) => window.start >= billed.interval.start)
    .map((minimum) => minimumLine(one, minimum, fiatCreditTypeId));
  if (percentages.length + added.length > 0) return [...percentages, ...added];
  const last = spans.at(-1);
  return last === undefined ? [] : zeroLines(one, last, charge, context);
}

/** The base as a counter of the billed time. */
function counterOf(steps: readonly UsageStep[], { interval }: BilledLines): CounterPiece {
  return { interval, series: { groupValues: {}, steps }, positionOf: (value) => value };
}

function percentageLines(
  one: ChargedComposite,
  span: PercentageSpan,
  creditTypeId: string,
  piece: CounterPiece,
  { boundaries }: BilledLines,
): UsageLine[] {
  const segment = { interval: span.interval, piece };
  return bandAmounts(segment, movementOf(segment), span.bands, boundaries).map((amount) =>
    percentageLine(one, span, creditTypeId, amount, true),
  );
}

/**
 * A composite without charges has one zero line in its last span, in the unit of the first line that it counts;
 * none if there is no such line, or if it leaves out what is free.
 */
function zeroLines(
  one: ChargedComposite,
  span: PercentageSpan,
  { bases }: CompositeCharge,
  { billed, stretches }: LinesContext,
): UsageLine[] {
  const counting = stretchAt(stretches, span.interval.end - 1).order.find(
    ({ compositeId }) => compositeId === one.product.id,
  );
  assert(counting !== undefined, `composite product ${one.product.id} counts something`);
  const counted = billed.lines.find(({ productId }) => counting.parts.has(productId));
  if (counting.excludesFreeUsage || counted === undefined) return [];
  const unit = counted.creditTypeId;
  const segment = { interval: span.interval, piece: counterOf(bases.get(unit) ?? [], billed) };
  return [percentageLine(one, span, unit, zeroAmount(movementOf(segment), span.bands), false)];
}

function percentageLine(
  one: ChargedComposite,
  span: PercentageSpan,
  creditTypeId: string,
  { band, quantity, total, windows }: BandAmount,
  hasMoved: boolean,
): UsageLine {
  const { level, startingAt, size } = band;
  return {
    ...commonFields(one, span),
    type: 'usage',
    creditTypeId,
    quantity,
    unitPrice: band.price,
    total,
    tier: span.rate.rateType === 'TIERED_PERCENTAGE' ? { level, startingAt, size } : null,
    hasMoved,
    windows,
  };
}

function minimumLine(
  one: ChargedComposite,
  { span, window, amount }: MinimumCharge,
  fiatCreditTypeId: string,
): UsageLine {
  return {
    ...commonFields(one, span),
    type: 'minimum',
    creditTypeId: fiatCreditTypeId,
    quantity: ONE,
    unitPrice: amount,
    total: amount,
    tier: null,
    hasMoved: true,
    windows: [{ window, quantity: ONE, total: amount }],
  };
}

function commonFields({ product }: ChargedComposite, { interval, listRate }: PercentageSpan) {
  const { name, tags } = versionAt(product, interval.end - 1);
  return {
    productId: product.id,
    productType: product.type,
    productTags: tags,
    name,
    interval,
    pricingGroupValues: {},
    presentationGroupValues: {},
    listRate,
  };
}
