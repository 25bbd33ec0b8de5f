/**
 * A segment of a counter after drawdown: stretches of the counter, each with one price and one payer
 * (docs/explanation/drawdown.md, "What a balance covers"). Pure.
 *
 * The amount of a stretch is its units times its price. If the rest of a balance is not a multiple of a price, the
 * units that it covers are rounded down to 20 places: the amount paid beyond their price lies at the upper end of the
 * stretch, and is deducted at the lower end of the next one. Amounts of walks are additive, so windows add up.
 */
import { type Decimal, maximum, minimum, ZERO } from '../../core/decimal.ts';
import type { PriceBand, PriceBands } from '../rates/tiers.ts';
import type { Bucket } from './buckets.ts';

/** The counter above `lower` up to and including `upper`. */
export interface PaidBand {
  /** The tier that sets its price. */
  readonly band: PriceBand;
  /** Null: the customer. */
  readonly payer: Bucket | null;
  /** Null: unbounded, in the first band only. */
  readonly lower: Decimal | null;
  /** Null: unbounded, in the last band only. */
  readonly upper: Decimal | null;
  /** Part of the amount that lies at `lower`. */
  readonly atLower: Decimal;
  /** Part of the amount that lies at `upper`. */
  readonly atUpper: Decimal;
}

/** A stretch that a balance pays for. */
export interface Covering extends PaidBand {
  readonly payer: Bucket;
  readonly lower: Decimal;
  readonly upper: Decimal;
}

/** The part of a walk that lies in one stretch. */
export interface PaidSlice {
  readonly band: PaidBand;
  readonly quantity: Decimal;
  readonly amount: Decimal;
}

/** The whole counter: the stretches that balances cover, and the rest at the customer's price. */
export function paidBands(list: PriceBands, coverings: readonly Covering[]): PaidBand[] {
  const bands: PaidBand[] = [];
  let from: Decimal | null = null;
  let before: Covering | null = null;
  const ascending = coverings.length < 2 ? coverings : coverings.toSorted((a, b) => a.lower.cmp(b.lower));
  for (const covering of ascending) {
    addRestBetween(bands, list, from, covering.lower, before);
    bands.push(covering);
    from = covering.upper;
    before = covering;
  }
  addRestBetween(bands, list, from, null, before);
  return bands;
}

/** Adds the bands of the price list between two positions. `before` ends where they begin. */
function addRestBetween(
  bands: PaidBand[],
  list: PriceBands,
  from: Decimal | null,
  to: Decimal | null,
  before: Covering | null,
): void {
  if (from !== null && to !== null && from.gte(to)) return;
  for (const band of list) {
    // The first band begins where the list does, if that is open also below.
    const lower = band === list[0] ? from : ofBoth(from, band.startingAt, maximum);
    const upper = ofBoth(to, band.end, minimum);
    if (lower !== null && upper !== null && lower.gte(upper)) continue;
    const follows = before !== null && lower?.eq(before.upper) === true;
    const atLower = follows && band.price.eq(before.band.price) ? ZERO.minus(before.atUpper) : ZERO;
    bands.push({ band, payer: null, lower, upper, atLower, atUpper: ZERO });
  }
}

/** Null: open. */
function ofBoth<End extends Decimal | null>(
  one: Decimal | null,
  other: End,
  choose: (a: Decimal, b: Decimal) => Decimal,
): Decimal | End {
  if (one === null) return other;
  return other === null ? one : choose(one, other);
}

/** The stretches between two positions, where low < high. */
export function stretchesBetween(bands: readonly PaidBand[], low: Decimal, high: Decimal): PaidBand[] {
  return bands.filter(
    ({ lower, upper }) => (lower === null || lower.lt(high)) && (upper === null || upper.gt(low)),
  );
}

/** The stretches crossed by moving from one position to another, ascending; negative amounts downwards. */
export function walkPaidBands(bands: readonly PaidBand[], from: Decimal, to: Decimal): PaidSlice[] {
  const order = from.cmp(to);
  if (order === 0) return [];
  const [low, high] = order < 0 ? [from, to] : [to, from];
  return stretchesBetween(bands, low, high).map((stretch) => {
    const { band, lower, upper, atLower, atUpper } = stretch;
    const bottom = lower?.gte(low) === true ? lower : low;
    const top = upper?.lte(high) === true ? upper : high;
    const units = top.minus(bottom);
    let amount = units.times(band.price);
    // Most stretches have nothing at their ends.
    if (bottom === lower && atLower !== ZERO) amount = amount.plus(atLower);
    if (top === upper && atUpper !== ZERO) amount = amount.plus(atUpper);
    return order < 0
      ? { band: stretch, quantity: units, amount }
      : { band: stretch, quantity: ZERO.minus(units), amount: ZERO.minus(amount) };
  });
}
