/**
 * Graduated prices, where each unit has the price of the tier it falls in, and volume prices, where every unit has the
 * price of the tier that the whole quantity reaches (docs/explanation/rating.md, "Tiers").
 *
 * A rate is a list of price bands over the cumulative quantity of a line key; a flat rate is one unbounded
 * band. A change of the quantity crosses bands, upwards with positive amounts and downwards with negative
 * ones. Amounts are additive: a to b plus b to c equals a to c, in every band. With volume prices the whole quantity
 * chooses one unbounded band first; volume-windows.ts has what windows show until then.
 */
import type { PercentageRate, Rate, Tier } from '../../core/catalogue.ts';
import { type Decimal, maximum, minimum, ZERO } from '../../core/decimal.ts';
import { assert, type FieldPath } from '../../core/errors.ts';
import type { LineTier } from '../../core/invoice.ts';

/** Quantities above `startingAt` up to and including `end`. The first band includes all negative quantities. */
export interface PriceBand {
  /** From 1 upwards. */
  readonly level: number;
  readonly startingAt: Decimal;
  /** Null in the last band. */
  readonly end: Decimal | null;
  readonly size: Decimal | null;
  readonly price: Decimal;
  /** Whether it is a tier of a rate with tiers. */
  readonly isTier: boolean;
  /** Set on the one band of volume prices. */
  readonly reached?: ReachedTier;
}

/** How a whole quantity chose the tier of volume prices. */
export interface ReachedTier {
  readonly tiers: PriceBands;
  readonly whole: Decimal;
}

export type PriceBands = readonly [PriceBand, ...PriceBand[]];

/** The part of a movement that lies in one band. `quantity` is negative on the way down. */
export interface BandSlice {
  readonly band: PriceBand;
  readonly quantity: Decimal;
  readonly amount: Decimal;
}

/** A problem with a tier list. `path` is relative to the list, such as `[2, 'size']`; empty: the list itself. */
export interface TierProblem {
  readonly path: FieldPath;
  readonly problem: string;
}

/** More tiers than any price list has. Every line of usage walks through them. */
const TIERS_PER_RATE_MAX = 1_000;

/**
 * Checks the tier list of a request; null if it is valid. Every tier but the last has a positive size, the last
 * one is unbounded, no price is negative, and there are at most `TIERS_PER_RATE_MAX`.
 */
export function validateTiers(tiers: readonly Tier[]): TierProblem | null {
  if (tiers.length === 0) return { path: [], problem: 'at least one tier is needed' };
  if (tiers.length > TIERS_PER_RATE_MAX) {
    return { path: [], problem: `a rate has at most ${TIERS_PER_RATE_MAX.toLocaleString('en')} tiers` };
  }
  const last = tiers.length - 1;
  for (const [index, { size, price }] of tiers.entries()) {
    if (price.lt(ZERO)) return { path: [index, 'price'], problem: 'must not be negative' };
    if (index === last && size !== null) {
      return { path: [index, 'size'], problem: 'must be left out of the last tier, which has no end' };
    }
    if (index < last && size === null) {
      return { path: [index, 'size'], problem: 'is needed in every tier but the last' };
    }
    if (size?.lte(ZERO)) return { path: [index, 'size'], problem: 'must be greater than 0' };
  }
  return null;
}

/**
 * The bands of a rate of usage for a counter that reaches `whole` by the end of the billed time. Tiers must have passed
 * `validateTiers`. Any other kind of rate throws.
 */
export function priceBands(rate: Rate, whole: Decimal): PriceBands {
  assert(rate.rateType === 'FLAT' || rate.rateType === 'TIERED', `${rate.rateType} prices no usage`);
  return bandsFor(rate, whole);
}

/** `priceBands` of a composite product: fractions of an amount of money instead of prices of units. */
export function percentageBands(rate: PercentageRate, whole: Decimal): PriceBands {
  return bandsFor(rate, whole);
}

/** The tiers of a rate of any kind, as they are listed: those of volume prices, too. */
export function listedBands(rate: Rate): PriceBands {
  return rate.rateType === 'TIERED' || rate.rateType === 'TIERED_PERCENTAGE'
    ? tierBands(rate.tiers)
    : oneBand(rate.price);
}

export function hasVolumePrices(rate: Rate): boolean {
  return 'tiersMode' in rate && rate.tiersMode === 'volume';
}

function bandsFor(rate: Rate, whole: Decimal): PriceBands {
  const listed = listedBands(rate);
  return hasVolumePrices(rate) ? reachedBand(listed, whole) : listed;
}

/** The price of all units under volume prices: that of the tier of the last unit of `whole`. */
export function reachedBand(tiers: PriceBands, whole: Decimal): PriceBands {
  return [{ ...bandAt(tiers, whole), end: null, reached: { tiers, whole } }];
}

/** One price for all units. */
export function oneBand(price: Decimal): PriceBands {
  return [{ level: 1, startingAt: ZERO, end: null, size: null, price, isTier: false }];
}

function tierBands(tiers: readonly Tier[]): PriceBands {
  const bands: PriceBand[] = [];
  let startingAt = ZERO;
  for (const { size, price } of tiers) {
    const end = size === null ? null : startingAt.plus(size);
    bands.push({ level: bands.length + 1, startingAt, end, size, price, isTier: true });
    if (end !== null) startingAt = end;
  }
  const [first, ...others] = bands;
  assert(first !== undefined && bands.at(-1)?.end === null, 'the last tier of a rate is unbounded');
  return [first, ...others];
}

/**
 * The bands crossed by moving from the cumulative quantity `from` to `to`, in ascending level, each with
 * its quantity and amount. Quantities below zero, which only falling usage reaches, are in the first band.
 */
export function walkBands(bands: PriceBands, from: Decimal, to: Decimal): BandSlice[] {
  const slices: BandSlice[] = [];
  eachBandSlice(bands, from, to, (band, quantity, amount) => slices.push({ band, quantity, amount }));
  return slices;
}

/** `walkBands` without a list, because lines have very many hours. */
export function eachBandSlice(
  bands: PriceBands,
  from: Decimal,
  to: Decimal,
  visit: (band: PriceBand, quantity: Decimal, amount: Decimal) => void,
): void {
  const [only] = bands;
  if (bands.length === 1) {
    const quantity = to.minus(from);
    if (!quantity.eq(ZERO)) visit(only, quantity, quantity.times(only.price));
    return;
  }
  const order = from.cmp(to);
  if (order === 0) return;
  const [low, high] = order < 0 ? [from, to] : [to, from];
  for (const band of bandsBetween(bands, low, high)) {
    const top = band.end === null ? high : minimum(high, band.end);
    const bottom = band === only ? low : maximum(low, band.startingAt);
    const quantity = order < 0 ? top.minus(bottom) : bottom.minus(top);
    visit(band, quantity, quantity.times(band.price));
  }
}

/** The bands that overlap the quantities between `low` and `high`, where low < high. */
export function bandsBetween(bands: PriceBands, low: Decimal, high: Decimal): readonly PriceBand[] {
  if (bands.length === 1) return bands;
  const first = bands.findIndex((band) => band.end === null || low.lt(band.end));
  const last = bands.findIndex((band) => band.end === null || high.lte(band.end));
  return bands.slice(first, last + 1);
}

/** Whether lines and amounts are the same under both. */
export function sameBands(a: PriceBands, b: PriceBands): boolean {
  if (a === b) return true;
  return (
    a.length === b.length &&
    a.every((band, index) => {
      const other = b[index];
      if (other === undefined || band.isTier !== other.isTier) return false;
      return band.price.eq(other.price) && band.startingAt.eq(other.startingAt) && sameReached(band, other);
    })
  );
}

function sameReached({ reached: one }: PriceBand, { reached: other }: PriceBand): boolean {
  return one === undefined || other === undefined ? one === other : sameBands(one.tiers, other.tiers);
}

/** The tier as shown on a line; null for a rate without tiers. */
export function tierOf({ isTier, level, startingAt, size }: PriceBand): LineTier | null {
  return isTier ? { level, startingAt, size } : null;
}

/** The band of the last unit of a cumulative quantity. */
export function bandAt(bands: PriceBands, quantity: Decimal): PriceBand {
  return bands.find((band) => band.end === null || quantity.lte(band.end)) ?? bands[0];
}
