/** Where the units of a charge of a subscription begin in the tiers of its payers. Pure. */
import { type Decimal, maximum, minimum, roundDecimal, sum, ZERO } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import type { LineTier, SubscriptionInvoiceLine } from '../../core/invoice.ts';

type Lines = readonly SubscriptionInvoiceLine[];

/** Where the units of a charge begin, and their payers. */
export interface FirstUnit {
  /** The number of units below the first unit of the charge. */
  readonly from: Decimal;
  /** The segments of balances in the order of the units that they pay for. */
  readonly order: readonly string[];
}

/**
 * The first unit of the charge whose lines are `own`. `burnDown`: the segments of balances in burn-down order, if
 * known. Lines state where their charge begins, except lines issued by earlier versions: for those it is derived from
 * the tiers. If several places give the same amounts, the lowest is used. Null if no place gives the quantities of the
 * lines, or if balances with different tiers pay in an unknown order.
 */
export function firstUnit(own: Lines, burnDown: readonly string[]): FirstUnit | null {
  const byPayer = groupBy(own, ({ payer }) => payer?.segmentId ?? '');
  const paying = [...byPayer.keys()].filter((segmentId) => segmentId !== '');
  const isKnown = paying.every((segmentId) => burnDown.includes(segmentId));
  const order = isKnown ? paying.toSorted((a, b) => burnDown.indexOf(a) - burnDown.indexOf(b)) : paying;
  const below = own[0]?.unitsBelow ?? null;
  if (below !== null && isKnown) return { from: below, order };
  const tiers = own.map(({ tier }) => tier);
  if (tiers.every((tier) => tier === null)) return { from: ZERO, order };
  if (haveSameTiers(tiers)) return { from: placeIn(own)?.at ?? ZERO, order };
  if (!isKnown && paying.length > 1) return null;
  // Units that balances pay come first.
  const from = firstInOrder([...order, ''].map((segmentId) => byPayer.get(segmentId) ?? []));
  return from && { from, order };
}

/** Whether they may be tiers of one rate. */
function haveSameTiers(tiers: readonly (LineTier | null)[]): boolean {
  return tiers.every((tier) =>
    tiers.every((other) => tier !== null && other !== null && belongTogether(tier, other)),
  );
}

function belongTogether(tier: LineTier, other: LineTier): boolean {
  if (tier.level === other.level) {
    return tier.startingAt.eq(other.startingAt) && String(tier.size) === String(other.size);
  }
  const [lower, upper] = tier.level < other.level ? [tier, other] : [other, tier];
  if (lower.size === null) return false;
  const end = lower.startingAt.plus(lower.size);
  return upper.level === lower.level + 1 ? end.eq(upper.startingAt) : end.lt(upper.startingAt);
}

interface Place {
  readonly at: Decimal;
  /** False: at or above it. */
  readonly isExact: boolean;
}

/** Where the units of lines with the same tiers begin. Null without tiers: any place fits. */
function placeIn(lines: Lines): Place | null {
  const tiers = lines.flatMap(({ tier }) => tier ?? []);
  const [first] = tiers;
  if (first === undefined) return null;
  const lowest = tiers.reduce((a, b) => (a.level <= b.level ? a : b), first);
  const inLowest = lines.filter(({ tier }) => tier?.level === lowest.level);
  if (lowest.size === null || inLowest.length === lines.length)
    return { at: lowest.startingAt, isExact: false };
  return { at: lowest.startingAt.plus(lowest.size).minus(unitsOf(inLowest)), isExact: true };
}

/** Each payer has its own tiers, and pays for the units after those of the payer before it. */
function firstInOrder(payers: readonly Lines[]): Decimal | null {
  const places: Place[] = [];
  let before = ZERO;
  for (const lines of payers) {
    const place = placeIn(lines);
    if (place !== null) places.push({ ...place, at: place.at.minus(before) });
    before = before.plus(unitsOf(lines));
  }
  const exact = places.find(({ isExact }) => isExact);
  const lowest = exact?.at ?? places.reduce((first, { at }) => maximum(first, at), ZERO);
  // Quantities of subscriptions are usually whole.
  const whole = roundDecimal(lowest, 'ROUND_UP', 0);
  return [whole, lowest].find((from) => givesLines(payers, from)) ?? null;
}

/** Whether each line has the units of its tier if the charge begins at `from`. */
function givesLines(payers: readonly Lines[], from: Decimal): boolean {
  let start = from;
  return payers.every((lines) => {
    const end = start.plus(unitsOf(lines));
    const isGiven = lines.every(
      (line) => line.tier === null || unitsIn(line.tier, start, end).eq(line.quantity),
    );
    start = end;
    return isGiven;
  });
}

/** How many of the units above `start` up to `end` lie in the tier. */
export function unitsIn({ startingAt, size }: LineTier, start: Decimal, end: Decimal): Decimal {
  const upper = size === null ? end : minimum(end, startingAt.plus(size));
  return maximum(upper.minus(maximum(start, startingAt)), ZERO);
}

function unitsOf(lines: Lines): Decimal {
  return sum(lines.map(({ quantity }) => quantity));
}
