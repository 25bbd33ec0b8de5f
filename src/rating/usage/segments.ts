/**
 * Cuts a line key into segments of one price each, and computes each segment's amount per price band, with its
 * distribution over the reported windows.
 *
 * All amounts come from the counter of the line key. The amount of a line is the walk through the bands from
 * the counter at the segment's start to the counter at its end; the amount of a window is the same walk
 * between the window's ends. Walks are additive, so windows add up exactly to the line.
 */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import { type Instant, type Interval, intersect } from '../../core/time.ts';
import { cumulativeAt } from '../../core/usage-series.ts';
import { type PricedKey, type TermsSpan, termsSpans } from '../rates/line-terms.ts';
import type { OverrideIndex } from '../rates/override-index.ts';
import type { RateBook } from '../rates/rate-schedule.ts';
import { bandAt, bandsBetween, type PriceBand, type PriceBands, walkBands } from '../rates/tiers.ts';
import type { WindowAmount } from '../types.ts';
import type { CounterPiece, LineKey } from './line-key.ts';

/** A stretch of a counter. */
export interface CounterSegment {
  readonly interval: Interval;
  readonly piece: CounterPiece;
}

export interface Segment extends TermsSpan, CounterSegment {}

/** The counter over a segment: start, end, minimum, maximum and steps. */
export interface Movement {
  readonly from: Decimal;
  readonly to: Decimal;
  readonly low: Decimal;
  readonly high: Decimal;
  /** Indices into the steps of the series: the first one inside the segment, and the first one after it. */
  readonly firstStep: number;
  readonly afterLastStep: number;
}

/** The amount of one segment in one price band. */
export interface BandAmount {
  readonly band: PriceBand;
  readonly quantity: Decimal;
  readonly total: Decimal;
  readonly windows: readonly WindowAmount[];
}

/** The segments of a line key in the billed time of its counter, ascending and without gaps. */
export function segmentsOf(
  key: LineKey & PricedKey,
  book: RateBook,
  contract: OverrideIndex,
  billed: Interval,
): Segment[] {
  return key.pieces.flatMap((piece) => {
    const interval = intersect(piece.interval, billed);
    if (interval === null) return [];
    return termsSpans(book, contract, key, interval).map((span) => ({ ...span, piece }));
  });
}

export function movementOf({ interval, piece }: CounterSegment): Movement {
  const { series, positionOf } = piece;
  const { steps } = series;
  const firstStep = firstStepAfter(steps, interval.start);
  const afterLastStep = firstStepAfter(steps, interval.end);
  const valueAtStart = cumulativeAt(series, interval.start);
  let low = valueAtStart;
  let high = valueAtStart;
  for (let index = firstStep; index < afterLastStep; index += 1) {
    const value = steps[index]?.value ?? ZERO;
    if (value.gt(high)) high = value;
    else if (value.lt(low)) low = value;
  }
  return {
    from: positionOf(valueAtStart),
    to: positionOf(cumulativeAt(series, interval.end)),
    low: positionOf(low),
    high: positionOf(high),
    firstStep,
    afterLastStep,
  };
}

/** True if metering reported anything inside the segment, even with quantity 0. */
export function hasUsage({ firstStep, afterLastStep }: Movement): boolean {
  return firstStep < afterLastStep;
}

/**
 * One amount per band that the counter crossed, in ascending level. A band that it entered and left again is
 * included with quantity 0, because its windows need a line. The bands do not depend on the reported windows.
 */
export function bandAmounts(
  { piece }: CounterSegment,
  movement: Movement,
  bands: PriceBands,
  boundaries: readonly Instant[],
): BandAmount[] {
  if (movement.low.eq(movement.high)) return [];
  const moved = bandsBetween(bands, movement.low, movement.high);
  const quantities = new Map(walkBands(bands, movement.from, movement.to).map((s) => [s.band, s.quantity]));
  const windows = windowAmounts(piece, movement, bands, boundaries);
  return moved.map((band) => {
    const quantity = quantities.get(band) ?? ZERO;
    return { band, quantity, total: quantity.times(band.price), windows: windows.get(band) ?? [] };
  });
}

/** A zero amount, in the band of the counter's value. */
export function zeroAmount(movement: Movement, bands: PriceBands): BandAmount {
  return { band: bandAt(bands, movement.to), quantity: ZERO, total: ZERO, windows: [] };
}

/** Walks from window to window. Only windows in which the counter changed cost time. */
function windowAmounts(
  { series: { steps }, positionOf }: CounterPiece,
  { from, firstStep, afterLastStep }: Movement,
  bands: PriceBands,
  boundaries: readonly Instant[],
): Map<PriceBand, WindowAmount[]> {
  const amounts = new Map<PriceBand, WindowAmount[]>();
  let position = from;
  let boundary = 1;
  for (let index = firstStep; index < afterLastStep; index += 1) {
    const step = steps[index];
    if (step === undefined) continue;
    while ((boundaries[boundary] ?? step.at) < step.at) boundary += 1;
    const end = boundaries[boundary] ?? step.at;
    const next = index + 1 < afterLastStep ? steps[index + 1] : undefined;
    if (next !== undefined && next.at <= end) continue;
    const positionAtEnd = positionOf(step.value);
    const window = { start: boundaries[boundary - 1] ?? end, end };
    for (const { band, quantity, amount } of walkBands(bands, position, positionAtEnd)) {
      const list = amounts.get(band);
      if (list === undefined) amounts.set(band, [{ window, quantity, total: amount }]);
      else list.push({ window, quantity, total: amount });
    }
    position = positionAtEnd;
  }
  return amounts;
}

/** Index of the first step after `at`. A step at `at` belongs to the interval that ends there. */
function firstStepAfter(steps: readonly { readonly at: Instant }[], at: Instant): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((steps[middle]?.at ?? at) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
