/**
 * The shares of seats in commits and credits that are allocated to individual seats (docs/explanation/subscriptions.md,
 * "Credits for seats"). Pure.
 *
 * Each segment grants a number of seats the same amount. A seat takes the oldest free share when it is assigned, and
 * keeps it while the segment is open: a removed seat's share stays unused, and is its share again when the seat is
 * added again. So no more is allocated than the segment grants.
 */
import { type Decimal, decimal, quotientDown, ZERO } from '../../core/decimal.ts';
import { derivedId } from '../../core/ids.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { AccessSegment } from '../../core/terms/schedules.ts';
import type { Subscription } from '../../core/terms/subscriptions.ts';
import { type Instant, type Interval, intersect } from '../../core/time.ts';
import { seatAssignments } from '../quantities/seat-assignments.ts';

/** The share of one seat in a commit or credit. */
export interface SeatShare {
  /** Used in place of the segment id of other balances. */
  readonly id: string;
  readonly seatId: string;
  readonly segment: AccessSegment;
  readonly amount: Decimal;
  /** When usage of the seat may draw on it; ascending. */
  readonly access: readonly Interval[];
}

/** The amount that a segment grants. */
export interface SeatGrant {
  readonly seats: number;
  readonly each: Decimal;
}

/** At most one share for a seat of a commit or credit, whatever its segments are. */
export function seatShareId(childId: string, seatId: string): string {
  return derivedId('share of a seat', childId, seatId);
}

/**
 * The number of seats that share the segment, and the amount of each. `granted` is the number by the current terms; an
 * amount that is not a multiple of its share, as after an edit, is divided by its number of seats.
 */
function seatGrant({ amount }: AccessSegment, granted: SeatGrant | undefined): SeatGrant {
  const { seats = 0, each = ZERO } = granted ?? {};
  if (each.gt(ZERO)) {
    const multiple = quotientDown(amount, each);
    if (multiple.mod('1').eq(ZERO)) return { seats: Number(multiple.toString()), each };
  }
  return seats === 0 ? { seats, each: ZERO } : { seats, each: quotientDown(amount, decimal(String(seats))) };
}

/** Shares in the order in which seats took them. `granted`: by segment. */
export function seatShares(
  { id, accessSchedule: { segments } }: Commit,
  subscription: Subscription,
  granted: ReadonlyMap<string, SeatGrant>,
): SeatShare[] {
  const start = Math.min(...segments.map(({ startingAt }) => startingAt));
  const takePlace = placesOf(segments, granted);
  const shares = new Map<string, SeatShare & { readonly access: Interval[] }>();
  for (const { seatId, interval } of seatAssignments(subscription)) {
    if (interval.end <= start) continue;
    const known = shares.get(seatId);
    const share = known ?? newShare(id, seatId, takePlace(Math.max(interval.start, start)));
    const access = share === null ? null : intersect(timeOf(share.segment), interval);
    if (share === null || access === null) continue;
    share.access.push(access);
    shares.set(seatId, share);
  }
  return [...shares.values()];
}

/** An unassigned share. */
interface Place {
  readonly segment: AccessSegment;
  readonly each: Decimal;
}

/** Allocates the oldest free share at an instant; instants ascend. Null if all are allocated. */
function placesOf(
  segments: readonly AccessSegment[],
  granted: ReadonlyMap<string, SeatGrant>,
): (at: Instant) => Place | null {
  const places = segments
    .toSorted((a, b) => a.startingAt - b.startingAt)
    .map((segment) => ({ segment, ...seatGrant(segment, granted.get(segment.id)), taken: 0 }));
  let first = 0;
  return (at) => {
    for (; first < places.length; first += 1) {
      const place = places[first];
      if (place === undefined || place.segment.startingAt > at) return null;
      if (place.taken + 1 > place.seats || place.segment.endingBefore <= at) continue;
      place.taken += 1;
      return place;
    }
    return null;
  };
}

function newShare(childId: string, seatId: string, place: Place | null) {
  if (place === null) return null;
  const { segment, each: amount } = place;
  return { id: seatShareId(childId, seatId), seatId, segment, amount, access: [] as Interval[] };
}

function timeOf({ startingAt: start, endingBefore: end }: AccessSegment): Interval {
  return { start, end };
}
