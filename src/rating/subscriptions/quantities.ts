/**
 * The quantity of a subscription over time, computed from its changes (docs/contracts.md, "Subscriptions").
 * Changes apply in the order of their starts; those with one start in the order of submission.
 */
import { Decimal, ZERO } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
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

/** Where the quantity changes, ascending, from the subscription's start on. */
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
  /** From the first change of seats on the quantity is the number of seats. */
  hasSeats: boolean;
}

type Visit = (interval: OpenInterval, state: Readonly<State>, hasOtherSeats: boolean) => void;

/**
 * Visits the times between two changes, ascending, each with the state in it and whether other seats are assigned than
 * before. Takes no longer than there are changes, however many seats a subscription has.
 */
function eachState(subscription: Subscription, visit: Visit): void {
  const { startingAt, endingBefore } = subscription;
  const end = endingBefore ?? Number.POSITIVE_INFINITY;
  if (startingAt >= end) return;
  const byInstant = groupBy(
    changesOf(subscription).filter(({ at }) => at < end),
    ({ at }) => Math.max(at, startingAt),
  );
  const instants = [...new Set([startingAt, ...byInstant.keys()])].sort((a, b) => a - b);
  const state: State = { quantity: ZERO, seatIds: new Set(), unassigned: 0, hasSeats: false };
  for (const [index, start] of instants.entries()) {
    const changes = byInstant.get(start) ?? [];
    const named = new Set(changes.flatMap(({ seatId }) => seatId ?? []));
    const assigned = new Set([...named].filter((id) => state.seatIds.has(id)));
    for (const { apply } of changes) apply(state);
    const hasOtherSeats = [...named].some((id) => state.seatIds.has(id) !== assigned.has(id));
    visit({ start, end: instants[index + 1] ?? endingBefore }, state, hasOtherSeats);
  }
}

/** A change of the state at an instant. */
interface Change {
  readonly at: Instant;
  /** Null: of no named seat. */
  readonly seatId: string | null;
  readonly apply: (state: State) => void;
}

/** In the order in which they apply. */
function changesOf({ quantityChanges, seatChanges }: Subscription): Change[] {
  return [
    ...quantityChanges.map((change) => ({
      at: change.startingAt,
      seatId: null,
      apply: applyQuantity(change),
    })),
    ...seatChanges.map((change) => ({
      at: change.startingAt,
      seatId: change.seatId,
      apply: applySeat(change),
    })),
  ].toSorted((a, b) => a.at - b.at);
}

function quantityOf({ hasSeats, seatIds, unassigned, quantity }: State): Decimal {
  return hasSeats ? new Decimal(String(seatIds.size + unassigned)) : quantity;
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
