/**
 * Cuts a line key into segments of one price each, and computes each segment's amount per price band, with its
 * distribution over the reported windows.
 *
 * All amounts come from the counter of the line key. The amount of a line is the walk through the bands from
 * the counter at the segment's start to the counter at its end; the amount of a window is the same walk
 * between the window's ends. Walks are additive, so windows add up exactly to the line.
 */
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import { type Instant, type Interval, intersect } from '../../core/time.ts';
import { cumulativeAt } from '../../core/usage-series.ts';
import type { Bucket } from '../balances/buckets.ts';
import { type PaidBand, stretchesBetween, walkPaidBands } from '../balances/paid-bands.ts';
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

/** The amount of one segment in one stretch of its counter. */
interface Amount<Band> {
  readonly band: Band;
  readonly quantity: Decimal;
  readonly total: Decimal;
  readonly windows: readonly WindowAmount[];
}

/** The amount of one segment in one price band. */
export type BandAmount = Amount<PriceBand>;

/** The amount of one segment in one price band that one payer pays. */
export interface PaidAmount extends BandAmount {
  /** Null: the customer. */
  readonly payer: Bucket | null;
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
  segment: CounterSegment,
  movement: Movement,
  bands: PriceBands,
  boundaries: readonly Instant[],
): BandAmount[] {
  const stretches = {
    between: (low: Decimal, high: Decimal) => bandsBetween(bands, low, high),
    walk: (from: Decimal, to: Decimal) => walkBands(bands, from, to),
  };
  return amountsOf(segment, movement, stretches, boundaries);
}

/** The same after drawdown: by level, and inside a level by payer, the customer last. */
export function paidAmounts(
  segment: CounterSegment,
  movement: Movement,
  bands: readonly PaidBand[],
  boundaries: readonly Instant[],
): PaidAmount[] {
  const stretches = {
    between: (low: Decimal, high: Decimal) => stretchesBetween(bands, low, high),
    walk: (from: Decimal, to: Decimal) => walkPaidBands(bands, from, to),
  };
  const byLine = new Map<string, Amount<PaidBand>[]>();
  for (const amount of amountsOf(segment, movement, stretches, boundaries)) {
    const { band, payer } = amount.band;
    const key = `${payer?.segmentId} ${band.level}`;
    const own = byLine.get(key);
    if (own === undefined) byLine.set(key, [amount]);
    else own.push(amount);
  }
  return [...byLine.values()].map(joined).sort(byLevelAndPayer);
}

/** The stretches of a counter. */
interface Stretches<Band> {
  between(low: Decimal, high: Decimal): readonly Band[];
  walk(from: Decimal, to: Decimal): readonly BandPart<Band>[];
}

interface BandPart<Band> {
  readonly band: Band;
  readonly quantity: Decimal;
  readonly amount: Decimal;
}

function amountsOf<Band>(
  { piece }: CounterSegment,
  movement: Movement,
  stretches: Stretches<Band>,
  boundaries: readonly Instant[],
): Amount<Band>[] {
  if (movement.low.eq(movement.high)) return [];
  const moved = stretches.between(movement.low, movement.high);
  const parts = new Map(stretches.walk(movement.from, movement.to).map((part) => [part.band, part]));
  const windows = windowAmounts(piece, movement, stretches, boundaries);
  return moved.map((band) => {
    const { quantity, amount } = parts.get(band) ?? { quantity: ZERO, amount: ZERO };
    return { band, quantity, total: amount, windows: windows.get(band) ?? [] };
  });
}

/** The stretches of one payer in one band, which need not touch. */
function joined(amounts: readonly Amount<PaidBand>[]): PaidAmount {
  const [first, ...others] = amounts;
  assert(first !== undefined, 'a line has an amount');
  const { band, payer } = first.band;
  if (others.length === 0) return { ...first, band, payer };
  return {
    band,
    payer,
    quantity: sum(amounts.map(({ quantity }) => quantity)),
    total: sum(amounts.map(({ total }) => total)),
    windows: joinedWindows(amounts.flatMap(({ windows }) => windows)),
  };
}

function joinedWindows(amounts: readonly WindowAmount[]): WindowAmount[] {
  const byStart = new Map<Instant, WindowAmount>();
  for (const { window, quantity, total } of amounts) {
    const own = byStart.get(window.start);
    byStart.set(window.start, {
      window,
      quantity: own === undefined ? quantity : own.quantity.plus(quantity),
      total: own === undefined ? total : own.total.plus(total),
    });
  }
  return [...byStart.values()].sort((a, b) => a.window.start - b.window.start);
}

/** Stable: payers stay in the order in which they pay. */
function byLevelAndPayer(a: PaidAmount, b: PaidAmount): number {
  return a.band.level - b.band.level || rankOf(a) - rankOf(b);
}

function rankOf({ payer }: PaidAmount): number {
  return payer === null ? 1 : 0;
}

/** A zero amount, in the band of the counter's value. */
export function zeroAmount(movement: Movement, bands: PriceBands): BandAmount {
  return { band: bandAt(bands, movement.to), quantity: ZERO, total: ZERO, windows: [] };
}

/** Walks from window to window. Only windows in which the counter changed cost time. */
function windowAmounts<Band>(
  { series: { steps }, positionOf }: CounterPiece,
  { from, firstStep, afterLastStep }: Movement,
  { walk }: Stretches<Band>,
  boundaries: readonly Instant[],
): Map<Band, WindowAmount[]> {
  const amounts = new Map<Band, WindowAmount[]>();
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
    for (const { band, quantity, amount } of walk(position, positionAtEnd)) {
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
