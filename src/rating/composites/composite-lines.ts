/** Creates the invoice lines of a composite product from its base and its minimums. */
import { type Decimal, ONE } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import { type Instant, type Interval, intersect } from '../../core/time.ts';
import { cumulativeAt, type UsageStep } from '../../core/usage-series.ts';
import { linePayer } from '../balances/applied-lines.ts';
import type { Bucket } from '../balances/buckets.ts';
import type { ClaimedSegment, Coverage } from '../balances/coverage.ts';
import type { UsageLine } from '../lines/types.ts';
import { versionAt } from '../quantities/product-spans.ts';
import type { PricedKey, TermsSpan } from '../rates/line-terms.ts';
import { oneBand, percentageBands, tierOf } from '../rates/tiers.ts';
import type { CounterPiece } from '../usage/line-key.ts';
import { paidLines } from '../usage/paid-lines.ts';
import { type BandAmount, movementOf, zeroAmount } from '../usage/segments.ts';
import {
  type ChargedSegment,
  type Claimants,
  type ClaimingCounter,
  claimedSegments,
} from '../usage/usage-claims.ts';
import { shownAmount } from '../usage/volume-windows.ts';
import type { ChargedComposite, CompositeCharge } from './composite-charges.ts';
import { type CountingStretch, stretchAt } from './composite-parts.ts';
import { type PercentageSpan, percentageRateOf, pricedComposite, reachedIn } from './percentage-spans.ts';
import type { ProductSpend } from './spend-collector.ts';

/** The charges of one invoice for usage, hour by hour. */
export interface BilledSpend {
  /** The interval that the invoice bills. */
  readonly interval: Interval;
  /** The boundaries of the hours. */
  readonly boundaries: readonly Instant[];
  readonly spends: readonly ProductSpend[];
}

export interface BilledLines extends BilledSpend {
  /** The usage lines of the invoice in its order, then the charges of subscriptions on it. */
  readonly lines: readonly Pick<UsageLine, 'productId' | 'creditTypeId'>[];
}

export interface LinesContext {
  readonly billed: BilledLines;
  readonly stretches: readonly CountingStretch[];
  readonly fiatCreditTypeId: string;
  /** The parts that balances pay for. */
  readonly coverage: Coverage;
}

/** The lines of one composite, by start, pricing unit and tier; the minimum is last. */
export function compositeLines(
  one: ChargedComposite,
  charge: CompositeCharge,
  context: LinesContext,
): UsageLine[] {
  const { billed, coverage } = context;
  const lines = chargesOf(one, charge, context).flatMap((charged) =>
    paidLines(charged, coverage.get(charged.key) ?? [], billed.boundaries, (interval, amount, payer) =>
      compositeLine(
        one,
        charged,
        interval,
        shownAmount(amount, [charged.segment.piece], billed.boundaries),
        payer,
        true,
      ),
    ),
  );
  if (lines.length > 0) return lines;
  const last = spansOf(one, context).at(-1);
  return last === undefined ? [] : zeroLines(one, last, charge, context);
}

/** The parts that balances may pay for. */
export function compositeClaims(
  one: ChargedComposite,
  charge: CompositeCharge,
  context: LinesContext,
  claimants: Claimants,
): ClaimedSegment[] {
  const priced = pricedComposite(one.product, context.fiatCreditTypeId);
  return chargesOf(one, charge, context).flatMap((charged) =>
    claimsOfCharge(one, charged, priced, claimants),
  );
}

/** Those of one charge. `termsFor` has the terms of the composite for usage that a balance pays. */
export function claimsOfCharge(
  { product, termsFor }: Pick<ChargedComposite, 'product' | 'termsFor'>,
  charged: CompositeSegment,
  priced: PricedKey,
  claimants: Claimants,
): ClaimedSegment[] {
  const { key, type, creditTypeId } = charged;
  const counter: ClaimingCounter = {
    key,
    priced,
    segments: [charged],
    // The part that fills up a minimum has the same price for every payer. A percentage has the unit of its base.
    termsFor: type === 'minimum' ? null : (bucket, within) => inUnit(termsFor(bucket, within), creditTypeId),
    bandsOf: ({ rate }) => percentageBands(percentageRateOf(product, rate), baseOf(charged.segment.piece)),
  };
  return claimedSegments(counter, claimants);
}

function inUnit(spans: readonly TermsSpan[], creditTypeId: string): TermsSpan[] {
  return spans.map((span) => ({ ...span, terms: span.terms && { ...span.terms, creditTypeId } }));
}

/** A charge as a counter: the base of the percentages, or 1 for the minimum. */
export interface CompositeSegment extends ChargedSegment {
  readonly key: string;
  readonly type: 'usage' | 'minimum';
  readonly span: PercentageSpan;
}

/** Segments in the order of the lines. */
function chargesOf(
  one: ChargedComposite,
  { bases, minimums }: CompositeCharge,
  context: LinesContext,
): CompositeSegment[] {
  const { billed, fiatCreditTypeId } = context;
  // Units in the order of the invoice. Only a minimum can be in a unit without lines.
  const units = new Set([...billed.lines.map(({ creditTypeId }) => creditTypeId), ...bases.keys()]);
  const percentages = spansOf(one, context).flatMap((span) =>
    [...units].map((unit) => {
      const piece = counterOf(bases.get(unit) ?? [], billed);
      const bands = reachedIn(span, baseOf(piece));
      return compositeSegment(one, { type: 'usage', span, creditTypeId: unit, piece, bands });
    }),
  );
  const added = minimums
    .filter(({ window }) => window.start >= billed.interval.start)
    .map(({ span, window, amount }) => {
      const piece = counterOf([{ at: window.end, value: ONE }], billed);
      const bands = oneBand(amount);
      return compositeSegment(one, { type: 'minimum', span, creditTypeId: fiatCreditTypeId, piece, bands });
    });
  return [...percentages, ...added];
}

export function compositeSegment(
  { product }: Pick<ChargedComposite, 'product'>,
  parts: Pick<CompositeSegment, 'type' | 'span' | 'creditTypeId' | 'bands'> & {
    readonly piece: CounterPiece;
  },
): CompositeSegment {
  const { type, span, creditTypeId, piece } = parts;
  const segment = { interval: span.interval, piece };
  const key = `${type === 'minimum' ? 'minimum' : 'composite'} ${product.id} ${creditTypeId}`;
  return { ...parts, key, segment, movement: movementOf(segment) };
}

/** The spans that the invoice bills. */
function spansOf({ spans }: ChargedComposite, { billed }: LinesContext): PercentageSpan[] {
  return spans.filter(({ interval }) => intersect(interval, billed.interval) !== null);
}

/** The whole base of a counter. */
function baseOf({ interval, series }: CounterPiece): Decimal {
  return cumulativeAt(series, interval.end);
}

/** A counter whose quantity is its value. */
export function counterOf(
  steps: readonly UsageStep[],
  { interval }: Pick<BilledSpend, 'interval'>,
): CounterPiece {
  return { interval, series: { groupValues: {}, steps }, positionOf: (value) => value };
}

/**
 * A composite without charges has one zero line in its last span, in the unit of the first line that it counts; none if
 * there is no such line, or if it excludes free usage.
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
  const { creditTypeId } = counted;
  const segment = { interval: span.interval, piece: counterOf(bases.get(creditTypeId) ?? [], billed) };
  const amount = zeroAmount(movementOf(segment), reachedIn(span, baseOf(segment.piece)));
  return [compositeLine(one, { type: 'usage', span, creditTypeId }, span.interval, amount, null, false)];
}

function compositeLine(
  { product }: ChargedComposite,
  { type, span, creditTypeId }: Pick<CompositeSegment, 'type' | 'span' | 'creditTypeId'>,
  interval: Interval,
  { band, quantity, total, windows }: BandAmount,
  payer: Bucket | null,
  hasMoved: boolean,
): UsageLine {
  const { name, tags } = versionAt(product, interval.end - 1);
  return {
    type,
    productId: product.id,
    productType: product.type,
    productTags: tags,
    name,
    creditTypeId,
    interval,
    quantity,
    unitPrice: band.price,
    total,
    pricingGroupValues: {},
    presentationGroupValues: {},
    tier: tierOf(band),
    payer: payer === null ? null : linePayer(payer),
    listRate: span.listRate,
    hasMoved,
    windows,
  };
}
