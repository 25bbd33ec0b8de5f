/**
 * Changes of one subscription: its end, its quantity, its seats (docs/explanation/contracts.md, "Subscriptions"). Pure.
 */
import { ZERO } from '../../../core/decimal.ts';
import { type FieldPath, invalid, words } from '../../../core/errors.ts';
import type { SeatUpdates, SubscriptionPatch } from '../../../core/terms/patches.ts';
import type { QuantityChange, SeatChange, Subscription } from '../../../core/terms/subscriptions.ts';
import { given } from '../../../core/terms/values.ts';
import { contains, floorToHour, type Instant } from '../../../core/time.ts';
import { quantitySegments } from '../../../rating/quantities/subscription-quantities.ts';
import { requireEndAfterStart } from '../terms/terms-context.ts';

/** Refuses (`invalid`) the first invalid field; `path` is the place of the patch in the request. */
export function patchedSubscription(
  subscription: Subscription,
  patch: SubscriptionPatch,
  path: FieldPath,
  now: Instant,
): Subscription {
  const { endingBefore, prorationRounding, seatGroupKey } = patch;
  if (endingBefore !== undefined) {
    requireEndAfterStart({ startingAt: subscription.startingAt, endingBefore }, path);
  }
  const changed: Subscription = {
    ...subscription,
    ...given({ endingBefore, prorationRounding }),
  };
  const managed = seatGroupKey === undefined ? changed : withSeats(changed, seatGroupKey, path, now);
  const counted = withQuantities(managed, patch.quantityUpdates, [...path, 'quantityUpdates']);
  return patch.seatUpdates === undefined
    ? counted
    : withSeatUpdates(counted, patch.seatUpdates, [...path, 'seatUpdates']);
}

/** The current quantity becomes unassigned seats, and so do scheduled quantities. */
function withSeats(
  subscription: Subscription,
  seatGroupKey: string,
  path: FieldPath,
  now: Instant,
): Subscription {
  const field = [...path, 'seatGroupKey'];
  if (subscription.quantityManagementMode === 'SEAT_BASED') {
    throw invalid([...path, 'quantityManagementMode'], 'the subscription is SEAT_BASED already');
  }
  const from = Math.max(floorToHour(now), subscription.startingAt);
  const open = quantitySegments(subscription).filter(({ interval: { end } }) => end === null || end > from);
  if (open.length === 0) throw invalid(field, 'the subscription has ended');
  if (open.some(({ quantity }) => !Number.isSafeInteger(Number(quantity.toString())))) {
    throw invalid(field, 'a quantity with a fraction cannot become seats');
  }
  let seats = 0;
  const seatChanges = open.map(({ interval, quantity }): SeatChange => {
    const more = Number(quantity.toString()) - seats;
    seats += more;
    return {
      startingAt: Math.max(interval.start, from),
      kind: more < 0 ? 'REMOVE_UNASSIGNED' : 'ADD_UNASSIGNED',
      seatId: null,
      count: Math.abs(more),
    };
  });
  return { ...subscription, quantityManagementMode: 'SEAT_BASED', seatGroupKey, seatChanges };
}

/** Applied in order. After each, the quantity must not be negative at any time. */
function withQuantities(
  subscription: Subscription,
  updates: readonly QuantityChange[],
  path: FieldPath,
): Subscription {
  let changed = subscription;
  for (const [index, update] of updates.entries()) {
    const field = [...path, index];
    if (subscription.quantityManagementMode === 'SEAT_BASED') {
      throw invalid(field, words`is for QUANTITY_ONLY subscriptions: use ${['seatUpdates']}`);
    }
    requireWithin(subscription, update.startingAt, [...field, 'startingAt']);
    checkQuantity(update, field);
    changed = { ...changed, quantityChanges: [...changed.quantityChanges, update] };
    if (quantitySegments(changed).some(({ quantity }) => quantity.lt(ZERO))) {
      const name = update.quantity === null ? 'quantityDelta' : 'quantity';
      throw invalid([...field, name], 'makes the quantity negative');
    }
  }
  return changed;
}

function checkQuantity({ quantity, quantityDelta }: QuantityChange, field: FieldPath): void {
  if (quantity === null && quantityDelta === null) {
    throw invalid([...field, 'quantity'], words`is required without ${['quantityDelta']}`);
  }
  if (quantity !== null && quantityDelta !== null) {
    throw invalid([...field, 'quantityDelta'], words`cannot be combined with ${['quantity']}`);
  }
  if (quantityDelta?.eq(ZERO)) throw invalid([...field, 'quantityDelta'], 'must not be 0');
}

/**
 * Removals are first and additions last, with new unassigned seats before the seats that take them. One edit can
 * therefore reassign a seat without a change of the quantity.
 */
function withSeatUpdates(subscription: Subscription, updates: SeatUpdates, path: FieldPath): Subscription {
  if (subscription.quantityManagementMode !== 'SEAT_BASED') {
    throw invalid(path, words`is for SEAT_BASED subscriptions: use ${['quantityUpdates']}`);
  }
  for (const name of ['remove', 'removeUnassigned', 'addUnassigned', 'add'] as const) {
    for (const [index, { startingAt }] of updates[name].entries()) {
      requireWithin(subscription, startingAt, [...path, name, index, 'startingAt']);
    }
  }
  const added: SeatChange[] = [
    ...seats('REMOVE', updates.remove),
    ...emptySeats('REMOVE_UNASSIGNED', updates.removeUnassigned),
    ...emptySeats('ADD_UNASSIGNED', updates.addUnassigned),
    ...seats('ADD', updates.add),
  ];
  return { ...subscription, seatChanges: [...subscription.seatChanges, ...added] };
}

function seats(kind: 'ADD' | 'REMOVE', list: SeatUpdates['add']): SeatChange[] {
  return list.flatMap(({ seatIds, startingAt }) =>
    seatIds.map((seatId) => ({ startingAt, kind, seatId, count: null })),
  );
}

function emptySeats(
  kind: 'ADD_UNASSIGNED' | 'REMOVE_UNASSIGNED',
  list: SeatUpdates['addUnassigned'],
): SeatChange[] {
  return list.map(({ quantity, startingAt }) => ({ startingAt, kind, seatId: null, count: quantity }));
}

function requireWithin(
  { startingAt: start, endingBefore: end }: Subscription,
  at: Instant,
  field: FieldPath,
): void {
  if (!contains({ start, end }, at)) throw invalid(field, 'must lie within the subscription');
}
