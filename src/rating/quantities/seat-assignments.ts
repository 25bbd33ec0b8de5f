/**
 * When each seat of a subscription is assigned, computed from its changes (docs/explanation/subscriptions.md, "Seats").
 * Pure.
 */
import type { Subscription } from '../../core/terms/subscriptions.ts';
import type { Instant, Interval } from '../../core/time.ts';

/** A stretch of time in which a seat is assigned; its end is infinite while unknown. */
export interface SeatAssignment {
  readonly seatId: string;
  readonly interval: Interval;
}

/** In the order of assignment. A seat that is removed and added at the same instant stays assigned. */
export function seatAssignments({ seatChanges, startingAt, endingBefore }: Subscription): SeatAssignment[] {
  const end = endingBefore ?? Number.POSITIVE_INFINITY;
  const found: { readonly seatId: string; readonly interval: { start: Instant; end: Instant } }[] = [];
  const last = new Map<string, (typeof found)[number]>();
  const sorted = seatChanges.toSorted((a, b) => a.startingAt - b.startingAt);
  for (const { kind, seatId, startingAt: at } of sorted) {
    if (seatId === null || at >= end) continue;
    const from = Math.max(at, startingAt);
    const own = last.get(seatId);
    const isAssigned = own?.interval.end === end;
    if (kind === 'REMOVE' && own !== undefined && isAssigned) own.interval.end = from;
    if (kind !== 'ADD' || isAssigned) continue;
    if (own !== undefined && own.interval.end === from) own.interval.end = end;
    else {
      const added = { seatId, interval: { start: from, end } };
      found.push(added);
      last.set(seatId, added);
    }
  }
  return found.filter(({ interval }) => interval.start < interval.end);
}
