/**
 * The most that usage at volume prices can add to an invoice (docs/explanation/holds.md, "What an event costs"). It may
 * move the whole quantity to another tier, which changes the price of all units before it. Pure.
 */
import { type Decimal, maximum, ZERO } from '../../core/decimal.ts';
import { intersect } from '../../core/time.ts';
import type { Claim } from '../balances/draw-down.ts';
import type { ChargedKey } from '../invoices/charged-keys.ts';
import { type PriceBands, walkBands } from '../rates/tiers.ts';

/** The charged units of a segment of the counter with volume prices: one list of tiers for each possible payer. */
interface VolumePart {
  readonly quantity: Decimal;
  readonly lists: readonly PriceBands[];
}

/** The units whose price usage in a slot changes. */
export interface VolumeShift {
  /** The whole quantity before the usage. */
  readonly whole: Decimal;
  /** The units that are charged in the segment of the slot. */
  readonly own: Decimal;
  /** The other segments of the counter. */
  readonly others: readonly VolumePart[];
}

/** The tiers of volume prices; null: the prices are graduated. */
export function volumeTiers([{ reached }]: PriceBands): PriceBands | null {
  return reached === undefined || reached.tiers.length === 1 ? null : reached.tiers;
}

/** The segments with volume prices for some payer. Null: there are none, so earlier units keep their price. */
export function volumeShift(
  { whole, billed }: ChargedKey,
  here: ChargedKey['billed'][number],
  claims: readonly Claim[],
): VolumeShift | null {
  const parts = billed.map((one) => {
    const { segment, bands, movement } = one;
    const payers = claims.filter(({ interval }) => intersect(interval, segment.interval) !== null);
    const all = [bands, ...payers.flatMap(({ claimants }) => claimants.map((payer) => payer.bands))];
    const lists = all.flatMap((list): PriceBands[] => {
      const tiers = volumeTiers(list);
      return tiers === null ? [] : [tiers];
    });
    return { one, quantity: movement.to.minus(movement.from), lists };
  });
  if (parts.every(({ lists }) => lists.length === 0)) return null;
  const own = parts.find(({ one }) => one === here)?.quantity ?? ZERO;
  return { whole, own, others: parts.filter(({ one, lists }) => one !== here && lists.length > 0) };
}

/** By how much `added` units in the segment of the slot raise its charge at most, never below 0. */
export function ownIncrease({ whole, own }: VolumeShift, tiers: PriceBands, added: Decimal): Decimal {
  const last = whole.plus(added);
  const units = walkBands(tiers, whole, last).reduce((total, { amount }) => total.plus(amount), ZERO);
  return units.plus(risesBetween(tiers, whole, last, (bound) => own.plus(bound.minus(whole))));
}

/** By how much they raise the charges of the other segments at most. */
export function otherIncreases({ whole, others }: VolumeShift, added: Decimal): Decimal {
  const last = whole.plus(added);
  return others.reduce((total, { quantity, lists }) => {
    const rises = lists.map((tiers) => risesBetween(tiers, whole, last, () => quantity));
    return total.plus(rises.reduce(maximum, ZERO));
  }, ZERO);
}

/**
 * The growth of the charges of units before it where the whole quantity enters more expensive tiers. Cheaper tiers are
 * left out: any part of what is held may become usage, and later usage must not count on what earlier usage saves.
 */
function risesBetween(
  tiers: PriceBands,
  whole: Decimal,
  last: Decimal,
  unitsAt: (bound: Decimal) => Decimal,
): Decimal {
  let rises = ZERO;
  for (const [index, { end, price }] of tiers.entries()) {
    const next = tiers[index + 1];
    if (end === null || next === undefined || end.lt(whole) || end.gte(last)) continue;
    rises = rises.plus(maximum(unitsAt(end).times(next.price.minus(price)), ZERO));
  }
  return rises;
}
