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
import { firstIndex } from '../../core/first-index.ts';
import { groupBy } from '../../core/group-by.ts';
import { type Instant, type Interval, intersect } from '../../core/time.ts';
import { cumulativeAt } from '../../core/usage-series.ts';
import type { Bucket } from '../balances/buckets.ts';
import { type PaidBand, stretchesBetween, walkPaidBands } from '../balances/paid-bands.ts';
import type { WindowAmount } from '../lines/types.ts';
import { type PricedKey, type TermsSpan, termsSpans } from '../rates/line-terms.ts';
import type { OverrideIndex } from '../rates/override-index.ts';
import type { RateBook } from '../rates/rate-schedule.ts';
import { bandAt, bandsBetween, eachBandSlice, type PriceBand, type PriceBands } from '../rates/tiers.ts';
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
  const segments: Segment[] = [];
  for (const piece of key.pieces) {
    const within = intersect(piece.interval, billed);
    if (within === null) continue;
    for (const { interval, terms, entitled } of termsSpans(book, contract, key, within)) {
      segments.push({ interval, terms, entitled, piece });
    }
  }
  return segments;
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
  const valueAtEnd = cumulativeAt(series, interval.end);
  const from = positionOf(valueAtStart);
  const to = valueAtEnd === valueAtStart ? from : positionOf(valueAtEnd);
  // Usage that only rises is lowest where it starts and highest where it ends.
  return {
    from,
    to,
    low: low === valueAtStart ? from : positionOf(low),
    high: high === valueAtEnd ? to : positionOf(high),
    firstStep,
    afterLastStep,
  };
}

/** True if metering reported anything inside the segment, even with quantity 0. */
export function hasUsage({ firstStep, afterLastStep }: Movement): boolean {
  return firstStep < afterLastStep;
}

/**
 * One amount per band that the counter crossed, in ascending level. A band that it entered and left again is included
 * with quantity 0, because its windows need a line. The bands do not depend on the reported windows.
 */
export function bandAmounts(
  segment: CounterSegment,
  movement: Movement,
  bands: PriceBands,
  boundaries: readonly Instant[],
): BandAmount[] {
  return amountsOf(segment, movement, PRICED, bands, boundaries);
}

/** The number of bands in the result of `bandAmounts`. */
export function bandCount({ low, high }: Movement, bands: PriceBands): number {
  return low.eq(high) ? 0 : bandsBetween(bands, low, high).length;
}

/** The amounts after drawdown: by level, and inside a level by payer, the customer last. */
export function paidAmounts(
  segment: CounterSegment,
  movement: Movement,
  bands: readonly PaidBand[],
  boundaries: readonly Instant[],
): PaidAmount[] {
  const amounts = amountsOf(segment, movement, PAID, bands, boundaries);
  return joinedByLine(amounts).sort(byLevelAndPayer);
}

/** Finds the bands of a list in ascending order, and walks them. */
interface Stretches<Band, List> {
  between(bands: List, low: Decimal, high: Decimal): readonly Band[];
  walk(bands: List, from: Decimal, to: Decimal, visit: BandVisitor<Band>): void;
}

type BandVisitor<Band> = (band: Band, quantity: Decimal, amount: Decimal) => void;

const PRICED: Stretches<PriceBand, PriceBands> = { between: bandsBetween, walk: eachBandSlice };
const PAID: Stretches<PaidBand, readonly PaidBand[]> = {
  between: stretchesBetween,
  walk(bands, from, to, visit) {
    for (const { band, quantity, amount } of walkPaidBands(bands, from, to)) visit(band, quantity, amount);
  },
};

function amountsOf<Band, List>(
  { piece }: CounterSegment,
  movement: Movement,
  stretches: Stretches<Band, List>,
  bands: List,
  boundaries: readonly Instant[],
): Amount<Band>[] {
  const { from, to, low, high } = movement;
  if (low.eq(high)) return [];
  const parts: Omit<Amount<Band>, 'windows'>[] = [];
  stretches.walk(bands, from, to, (band, quantity, total) => parts.push({ band, quantity, total }));
  const only = onlyWindow(piece, movement, boundaries);
  const windows = only === null ? windowAmounts(piece, movement, stretches, bands, boundaries) : null;
  // The bounds crossed from start to end are among those crossed from low to high, in the same order.
  let next = 0;
  return stretches.between(bands, low, high).map((band) => {
    const part = parts[next]?.band === band ? parts[next] : undefined;
    if (part === undefined) return { band, quantity: ZERO, total: ZERO, windows: windows?.get(band) ?? [] };
    next += 1;
    const { quantity, total } = part;
    const own = only === null ? (windows?.get(band) ?? []) : [{ window: only, quantity, total }];
    return { band, quantity, total, windows: own };
  });
}

/** One amount for each line: the stretches of one payer in one band, which need not be adjacent. */
function joinedByLine(amounts: readonly Amount<PaidBand>[]): PaidAmount[] {
  const [first, second] = amounts;
  const isJoined = amounts.length > 2 || (second !== undefined && isOneLine(first, second));
  if (!isJoined) return amounts.map(paidAmount);
  return [...groupBy(amounts, lineOf).values()].map(joined);
}

function lineOf({ band: { band, payer } }: Amount<PaidBand>): string {
  return `${payer?.segmentId} ${band.level}`;
}

function isOneLine(a: Amount<PaidBand> | undefined, { band: b }: Amount<PaidBand>): boolean {
  return a?.band.band.level === b.band.level && a.band.payer?.segmentId === b.payer?.segmentId;
}

function paidAmount({ band: { band, payer }, quantity, total, windows }: Amount<PaidBand>): PaidAmount {
  return { band, payer, quantity, total, windows };
}

function joined(amounts: readonly Amount<PaidBand>[]): PaidAmount {
  const [first, ...others] = amounts;
  assert(first !== undefined, 'a line has an amount');
  if (others.length === 0) return paidAmount(first);
  const { band, payer } = first.band;
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

/** Stable: payers keep the order in which they pay. */
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

/** The window of all steps, whose amount is that of the whole segment; null if they are in several windows. */
function onlyWindow(
  { series: { steps } }: CounterPiece,
  { firstStep, afterLastStep }: Movement,
  boundaries: readonly Instant[],
): Interval | null {
  const [first, last] = [steps[firstStep], steps[afterLastStep - 1]];
  if (first === undefined || last === undefined) return null;
  const boundary = Math.max(
    firstIndex(boundaries.length, (index) => (boundaries[index] ?? 0) >= first.at),
    1,
  );
  const end = boundaries[boundary] ?? first.at;
  return last.at > end ? null : { start: boundaries[boundary - 1] ?? end, end };
}

/** Walks from window to window. Only windows in which the counter changed cost time. */
function windowAmounts<Band, List>(
  { series: { steps }, positionOf }: CounterPiece,
  { from, firstStep, afterLastStep }: Movement,
  { walk }: Stretches<Band, List>,
  bands: List,
  boundaries: readonly Instant[],
): Map<Band, WindowAmount[]> {
  const amounts = new Map<Band, WindowAmount[]>();
  let window: Interval = { start: 0, end: 0 };
  let lastBand: Band | null = null;
  let own: WindowAmount[] = [];
  const add: BandVisitor<Band> = (band, quantity, total) => {
    // Most windows lie in the band of the one before.
    if (band !== lastBand) {
      own = amounts.get(band) ?? [];
      amounts.set(band, own);
      lastBand = band;
    }
    own.push({ window, quantity, total });
  };
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
    window = { start: boundaries[boundary - 1] ?? end, end };
    walk(bands, position, positionAtEnd, add);
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
