/**
 * The charges of one line key: its segments with their prices, from which its lines are computed before and after
 * drawdown, and the parts that balances may pay for. Pure.
 */
import type { Product } from '../../core/catalogue.ts';
import type { Decimal } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { UnpricedUsage } from '../../core/invoice.ts';
import type { Instant, Interval } from '../../core/time.ts';
import { linePayer } from '../balances/applied-lines.ts';
import type { Bucket } from '../balances/buckets.ts';
import type { ClaimedSegment, Coverage, PaidStretch } from '../balances/coverage.ts';
import type { UsageLine } from '../lines/types.ts';
import { versionAt } from '../quantities/product-spans.ts';
import { type LineTerms, type PricedKey, termsSpans } from '../rates/line-terms.ts';
import type { OverrideIndex } from '../rates/override-index.ts';
import type { RateBook } from '../rates/rate-schedule.ts';
import { type PriceBands, priceBands, tierOf } from '../rates/tiers.ts';
import type { LineKey } from '../usage/line-key.ts';
import { paidLines } from '../usage/paid-lines.ts';
import {
  type BandAmount,
  bandCount,
  hasUsage,
  type Movement,
  movementOf,
  type Segment,
  segmentsOf,
  zeroAmount,
} from '../usage/segments.ts';
import { type Claimants, claimedSegments, lineKeyText } from '../usage/usage-claims.ts';
import { shownAmount, wholeOf } from '../usage/volume-windows.ts';

/** The input that is shared by all keys of an invoice. */
export interface ChargingContext {
  readonly fiatCreditTypeId: string;
  readonly billed: Interval;
  readonly overrides: OverrideIndex;
  /** Null: no balance may pay. */
  readonly claimants: Claimants | null;
}

/** A priced, entitled segment. */
interface BilledSegment {
  readonly segment: Segment;
  readonly terms: LineTerms;
  readonly bands: PriceBands;
  readonly movement: Movement;
}

/** A line key with its charged segments. */
export interface ChargedKey {
  /** See `lineKeyText`. */
  readonly text: string;
  readonly priced: PricedKey & LineKey;
  /** Where its counter stands at the end of the billed time: the quantity that decides the tier of volume prices. */
  readonly whole: Decimal;
  /** Ascending. */
  readonly billed: readonly BilledSegment[];
  /** Usage without a price. */
  readonly unpriced: readonly UnpricedUsage[];
}

export function chargedKey(
  product: Product,
  key: LineKey,
  rates: RateBook,
  { fiatCreditTypeId, overrides, billed: interval }: ChargingContext,
): ChargedKey {
  const priced = { product, fiatCreditTypeId, billingFrequency: null, ...key };
  const unpriced: UnpricedUsage[] = [];
  const billed: BilledSegment[] = [];
  const whole = wholeOf(key, interval);
  for (const segment of segmentsOf(priced, rates, overrides, interval)) {
    const movement = movementOf(segment);
    const { terms, entitled } = segment;
    if (!entitled) continue;
    if (terms !== null) billed.push({ segment, terms, bands: priceBands(terms.rate, whole), movement });
    else if (!movement.low.eq(movement.high)) {
      unpriced.push(unpricedUsage(product, key, segment, movement));
    }
  }
  return { text: lineKeyText({ productId: product.id, ...key }), priced, whole, billed, unpriced };
}

/** Usage for which no product of the card has a price. */
export function unownedUsage(
  product: Product,
  key: LineKey,
  rates: RateBook,
  { fiatCreditTypeId, overrides, billed }: ChargingContext,
): UnpricedUsage[] {
  const priced = { product, fiatCreditTypeId, billingFrequency: null, ...key };
  return segmentsOf(priced, rates, overrides, billed).flatMap((segment) => {
    const movement = movementOf(segment);
    const isUnpriced = segment.entitled && !movement.low.eq(movement.high);
    return isUnpriced ? [unpricedUsage(product, key, segment, movement)] : [];
  });
}

/** `stretches`: the covered stretches of the key. */
export function linesOfKey(
  { priced, billed }: ChargedKey,
  stretches: readonly PaidStretch[],
  boundaries: readonly Instant[],
): UsageLine[] {
  const lines: UsageLine[] = [];
  for (const one of billed) {
    const own = paidLines(one, stretches, boundaries, (interval, amount, payer) =>
      newLine(priced, interval, one.terms, shownAmount(amount, priced.pieces, boundaries), payer, true),
    );
    for (const line of own) lines.push(line);
  }
  if (lines.length > 0) return lines;
  // Usage with quantity 0 (rounded away, or values of 0) is shown as one zero line.
  const used = billed.findLast(({ movement }) => hasUsage(movement));
  return used === undefined ? [] : [zeroLineOf(priced, used)];
}

/** The number of lines of a key without coverage. */
export function lineCountOf({ billed }: ChargedKey): number {
  let count = 0;
  for (const { movement, bands } of billed) count += bandCount(movement, bands);
  return count > 0 ? count : Number(billed.some(({ movement }) => hasUsage(movement)));
}

/** The lines of covered keys, among keys that were charged before drawdown. */
export function coveredLines(
  key: ChargedKey,
  coverage: Coverage,
  boundaries: readonly Instant[],
): UsageLine[] {
  const stretches = coverage.get(key.text);
  return stretches === undefined ? [] : linesOfKey(key, stretches, boundaries);
}

/** The line of a product without group keys that has no other line; null for other keys. */
export function zeroLineOfKey({ priced, billed }: ChargedKey): UsageLine | null {
  const last = priced.keyless ? billed.at(-1) : undefined;
  return last === undefined ? null : zeroLineOf(priced, last);
}

/** The parts that balances may pay for. */
export function claimsOfKey(
  { text, priced, whole, billed }: ChargedKey,
  rates: RateBook,
  { claimants, overrides }: ChargingContext,
): ClaimedSegment[] {
  if (claimants === null) return [];
  const segments = billed.map(({ segment, terms, bands, movement }) => ({
    segment,
    movement,
    creditTypeId: terms.creditTypeId,
    bands,
  }));
  const counter = {
    key: text,
    priced,
    segments,
    termsFor: (bucket: Bucket, within: Interval) => termsSpans(rates, overrides, priced, within, bucket),
    bandsOf: ({ rate }: LineTerms) => priceBands(rate, whole),
  };
  return claimedSegments(counter, claimants);
}

function zeroLineOf(key: PricedKey & LineKey, { segment, terms, bands, movement }: BilledSegment): UsageLine {
  return newLine(key, segment.interval, terms, zeroAmount(movement, bands), null, false);
}

function newLine(
  { product, pricingGroupValues, presentationGroupValues }: PricedKey,
  interval: Interval,
  { listed, creditTypeId }: LineTerms,
  { band, quantity, total, windows }: BandAmount,
  payer: Bucket | null,
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

function unpricedUsage(
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
