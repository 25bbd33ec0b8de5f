/**
 * The quantity of a subscription over time, computed from its changes (docs/explanation/contracts.md, "Subscriptions").
 * Changes apply in the order of their starts; changes with the same start apply in the order of submission.
 */
import { Decimal, ZERO } from '../../core/decimal.ts';
import type { QuantityChange, SeatChange, Subscription } from '../../core/terms/subscriptions.ts';
import type { Instant, OpenInterval } from '../../core/time.ts';

/** A segment of time with one quantity. `interval.end` is null in the last segment of an open subscription. */
export interface QuantitySegment {
  readonly interval: OpenInterval;
  readonly quantity: Decimal;
}

/** The quantity from an instant on. */
export interface QuantityStep {
  readonly at: Instant;
  readonly quantity: Decimal;
}

/** From the subscription's start to its end. Empty for a subscription of zero length. */
export function quantitySegments(subscription: Subscription): QuantitySegment[] {
  const steps = quantitySteps(subscription);
  return steps.map(({ at: start, quantity }, index) => ({
    interval: { start, end: steps[index + 1]?.at ?? subscription.endingBefore },
    quantity,
  }));
}

/** When the quantity changes, ascending, from the subscription's start on. */
export function quantitySteps(subscription: Subscription): QuantityStep[] {
  const steps: QuantityStep[] = [];
  eachState(subscription, ({ start: at }, state) => {
    const quantity = quantityOf(state);
    if (steps.at(-1)?.quantity.eq(quantity) !== true) steps.push({ at, quantity });
  });
  return steps;
}

/** The segments between changes of the quantity or of the assigned seats, from the subscription's start to its end. */
export function seatSegments(subscription: Subscription): QuantitySegment[] {
  const segments: QuantitySegment[] = [];
  eachState(subscription, (interval, state, hasOtherSeats) => {
    const quantity = quantityOf(state);
    const before = segments.at(-1);
    if (before !== undefined && !hasOtherSeats && before.quantity.eq(quantity)) {
      segments[segments.length - 1] = {
        ...before,
        interval: { start: before.interval.start, end: interval.end },
      };
    } else segments.push({ interval, quantity });
  });
  return segments;
}

/** The assigned seats in the segments that start at these instants, in the order of assignment. */
export function seatIdsFrom(
  subscription: Subscription,
  starts: ReadonlySet<Instant>,
): ReadonlyMap<Instant, readonly string[]> {
  const ids = new Map<Instant, readonly string[]>();
  eachState(subscription, ({ start }, { seatIds }) => {
    if (starts.has(start)) ids.set(start, [...seatIds]);
  });
  return ids;
}

interface State {
  quantity: Decimal;
  readonly seatIds: Set<string>;
  unassigned: number;
  /** From the first change of seats on, the quantity is the number of seats. */
  hasSeats: boolean;
}

type Visit = (interval: OpenInterval, state: Readonly<State>, hasOtherSeats: boolean) => void;

/**
 * Visits the times between two changes, ascending, each with its state and whether the assigned seats changed. Takes
 * time in proportion to the changes, however many seats a subscription has.
 */
function eachState(subscription: Subscription, visit: Visit): void {
  const { startingAt, endingBefore } = subscription;
  const end = endingBefore ?? Number.POSITIVE_INFINITY;
  if (startingAt >= end) return;
  const changes = changesOf(subscription).filter(({ startingAt: at }) => at < end);
  const state: State = { quantity: ZERO, seatIds: new Set(), unassigned: 0, hasSeats: false };
  let next = 0;
  for (let start: Instant | undefined = startingAt; start !== undefined; ) {
    const first = next;
    while ((changes[next]?.startingAt ?? end) <= start) next += 1;
    const hasOtherSeats = applyAll(changes.slice(first, next), state);
    const following: Instant | undefined = changes[next]?.startingAt;
    visit({ start, end: following ?? endingBefore }, state, hasOtherSeats);
    start = following;
  }
}

type Change = QuantityChange | SeatChange;

/** Changes in the order in which they apply. */
function changesOf({ quantityChanges, seatChanges }: Subscription): Change[] {
  return [...quantityChanges, ...seatChanges].sort((a, b) => a.startingAt - b.startingAt);
}

/** Returns whether the assigned seats changed. */
function applyAll(changes: readonly Change[], state: State): boolean {
  const before = new Map<string, boolean>();
  for (const change of changes) {
    if (!('kind' in change)) {
      state.quantity = change.quantity ?? state.quantity.plus(change.quantityDelta ?? ZERO);
      continue;
    }
    const { seatId } = change;
    if (seatId !== null && !before.has(seatId)) before.set(seatId, state.seatIds.has(seatId));
    applySeat(change, state);
  }
  return [...before].some(([seatId, wasAssigned]) => state.seatIds.has(seatId) !== wasAssigned);
}

function quantityOf({ hasSeats, seatIds, unassigned, quantity }: State): Decimal {
  return hasSeats ? new Decimal(String(seatIds.size + unassigned)) : quantity;
}

/** New seats take unassigned ones first. A removal of an absent seat changes nothing. */
function applySeat({ kind, seatId, count }: SeatChange, state: State): void {
  state.hasSeats = true;
  if (kind === 'ADD_UNASSIGNED') state.unassigned += count ?? 0;
  if (kind === 'REMOVE_UNASSIGNED') state.unassigned = Math.max(0, state.unassigned - (count ?? 0));
  if (seatId === null) return;
  if (kind === 'REMOVE') state.seatIds.delete(seatId);
  if (kind === 'ADD' && !state.seatIds.has(seatId)) {
    state.seatIds.add(seatId);
    state.unassigned = Math.max(0, state.unassigned - 1);
  }
}
