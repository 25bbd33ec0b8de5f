/**
 * The windows of a line with volume prices (docs/explanation/rating.md, "Tiers"). Pure.
 *
 * The price is that of the tier which the whole counter reaches, so every window in which the counter enters another
 * tier changes the price of all units before it. A window shows by how much the total changed in it: negative if the
 * price fell, and also after the line has ended. So windows add up to the line.
 */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import { firstIndex } from '../../core/first-index.ts';
import { type Instant, type Interval, intersect } from '../../core/time.ts';
import { cumulativeAt } from '../../core/usage-series.ts';
import type { WindowAmount } from '../lines/types.ts';
import { bandAt, type ReachedTier } from '../rates/tiers.ts';
import type { CounterPiece, LineKey } from './line-key.ts';
import type { BandAmount } from './segments.ts';

/** Where the counter of a key stands at the end of a stretch of time. Zero for a key without pieces in it. */
export function wholeOf({ pieces }: Pick<LineKey, 'pieces'>, billed: Interval): Decimal {
  const last = pieces.findLast(({ interval }) => interval.start < billed.end);
  if (last === undefined) return ZERO;
  const { series, positionOf, interval } = last;
  return positionOf(cumulativeAt(series, Math.min(interval.end, billed.end)));
}

/**
 * The amount of a line with its windows as the total grew. Other amounts than those of volume prices are returned as
 * they are. `boundaries` are those of the windows of the whole billed time.
 */
export function shownAmount(
  amount: BandAmount,
  pieces: readonly CounterPiece[],
  boundaries: readonly Instant[],
): BandAmount {
  const { reached, price } = amount.band;
  if (reached === undefined || reached.tiers.length === 1 || amount.windows.length === 0) return amount;
  const steps = priceSteps(reached, pieces, boundaries);
  return { ...amount, windows: windowsOf(amount.windows, price, steps, boundaries) };
}

/** From the end of a window on, the price of all units. */
interface PriceStep {
  readonly end: Instant;
  readonly price: Decimal;
}

/** The prices at the ends of the windows in which the counter changes, ascending. */
function priceSteps(
  { tiers }: ReachedTier,
  pieces: readonly CounterPiece[],
  boundaries: readonly Instant[],
): PriceStep[] {
  const steps: PriceStep[] = [];
  const billed = { start: boundaries[0] ?? 0, end: boundaries.at(-1) ?? 0 };
  for (const { at, position } of pieces.flatMap((piece) => positionsIn(piece, billed))) {
    const { price } = bandAt(tiers, position);
    const { end } = windowOf(boundaries, at);
    if (steps.at(-1)?.end === end) steps.pop();
    if (steps.at(-1)?.price !== price) steps.push({ end, price });
  }
  return steps;
}

function positionsIn({ interval, series, positionOf }: CounterPiece, billed: Interval) {
  const within = intersect(interval, billed);
  if (within === null) return [];
  return series.steps
    .filter(({ at }) => at > within.start && at <= within.end)
    .map(({ at, value }) => ({ at, position: positionOf(value) }));
}

function windowOf(boundaries: readonly Instant[], at: Instant): Interval {
  const index = Math.max(
    firstIndex(boundaries.length, (place) => (boundaries[place] ?? 0) >= at),
    1,
  );
  const end = boundaries[index] ?? at;
  return { start: boundaries[index - 1] ?? end, end };
}

/** `amounts` are those at the price in the end, which is `last`. */
function windowsOf(
  amounts: readonly WindowAmount[],
  last: Decimal,
  steps: readonly PriceStep[],
  boundaries: readonly Instant[],
): WindowAmount[] {
  const own = new Map(amounts.map((one) => [one.window.end, one]));
  const prices = new Map(steps.map(({ end, price }) => [end, price]));
  const ends = [...new Set([...own.keys(), ...prices.keys()])].sort((a, b) => a - b);
  const shown: WindowAmount[] = [];
  let [quantity, total] = [ZERO, ZERO];
  let price = last;
  for (const end of ends) {
    const added = own.get(end);
    price = prices.get(end) ?? price;
    quantity = quantity.plus(added?.quantity ?? ZERO);
    // A balance is used up to a fraction of a unit, which has no price.
    const beyond = added === undefined ? ZERO : added.total.minus(added.quantity.times(last));
    const now = quantity.times(price);
    const change = now.minus(total).plus(beyond);
    total = now;
    if (added === undefined && change.eq(ZERO)) continue;
    const window = added?.window ?? windowOf(boundaries, end);
    shown.push({ window, quantity: added?.quantity ?? ZERO, total: change });
  }
  return shown;
}
