/**
 * The quantity of a subscription over time, computed from its changes (docs/contracts.md, "Subscriptions").
 * Changes apply in the order of their starts; those with one start in the order of submission.
 */
import { Decimal, ZERO } from '../../core/decimal.ts';
import type { QuantityChange, SeatChange, Subscription } from '../../core/terms/subscriptions.ts';
import type { Instant, OpenInterval } from '../../core/time.ts';

/** A segment of time without a change. `interval.end` is null in the last segment of an open subscription. */
export interface QuantitySegment {
  readonly interval: OpenInterval;
  readonly quantity: Decimal;
  /** In the order of assignment; empty for subscriptions without seats. */
  readonly seatIds: readonly string[];
}

interface State {
  quantity: Decimal;
  readonly seatIds: Set<string>;
  unassigned: number;
  /** From the first change of seats on the quantity is the number of seats. */
  hasSeats: boolean;
}

/** From the subscription's start to its end. Empty for a subscription of zero length. */
export function quantitySegments(subscription: Subscription): QuantitySegment[] {
  const { startingAt, endingBefore, quantityChanges, seatChanges } = subscription;
  const changes = [
    ...quantityChanges.map((change) => ({ at: change.startingAt, apply: applyQuantity(change) })),
    ...seatChanges.map((change) => ({ at: change.startingAt, apply: applySeat(change) })),
  ].toSorted((a, b) => a.at - b.at);
  const state: State = { quantity: ZERO, seatIds: new Set(), unassigned: 0, hasSeats: false };
  const segments: QuantitySegment[] = [];
  const end = endingBefore ?? Number.POSITIVE_INFINITY;
  let start = startingAt;
  for (const { at, apply } of changes) {
    if (at >= end) break;
    if (at > start) {
      segments.push(segmentOf(state, start, at));
      start = at;
    }
    apply(state);
  }
  if (start < end) segments.push(segmentOf(state, start, endingBefore));
  return joined(segments);
}

function segmentOf(state: State, start: Instant, end: Instant | null): QuantitySegment {
  const seats = new Decimal(String(state.seatIds.size + state.unassigned));
  return {
    interval: { start, end },
    quantity: state.hasSeats ? seats : state.quantity,
    seatIds: [...state.seatIds],
  };
}

function applyQuantity(change: QuantityChange): (state: State) => void {
  return (state) => {
    state.quantity = change.quantity ?? state.quantity.plus(change.quantityDelta ?? ZERO);
  };
}

/** New seats take unassigned ones first. A removal of an absent seat changes nothing. */
function applySeat({ kind, seatId, count }: SeatChange): (state: State) => void {
  return (state) => {
    state.hasSeats = true;
    if (kind === 'ADD_UNASSIGNED') state.unassigned += count ?? 0;
    if (kind === 'REMOVE_UNASSIGNED') state.unassigned = Math.max(0, state.unassigned - (count ?? 0));
    if (seatId === null) return;
    if (kind === 'REMOVE') state.seatIds.delete(seatId);
    if (kind === 'ADD' && !state.seatIds.has(seatId)) {
      state.seatIds.add(seatId);
      state.unassigned = Math.max(0, state.unassigned - 1);
    }
  };
}

/** Merges equal adjacent segments. */
function joined(segments: readonly QuantitySegment[]): QuantitySegment[] {
  const result: QuantitySegment[] = [];
  for (const segment of segments) {
    const before = result.at(-1);
    if (before?.quantity.eq(segment.quantity) && before.seatIds.join('\n') === segment.seatIds.join('\n')) {
      result[result.length - 1] = {
        ...before,
        interval: { start: before.interval.start, end: segment.interval.end },
      };
    } else result.push(segment);
  }
  return result;
}
