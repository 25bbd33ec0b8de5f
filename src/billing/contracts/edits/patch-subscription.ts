/** Changes of one subscription: its end, its quantity, its seats (docs/contracts.md, "Subscriptions"). Pure. */
import { ZERO } from '../../../core/decimal.ts';
import { invalid } from '../../../core/errors.ts';
import type { SeatUpdates, SubscriptionPatch } from '../../../core/terms/patches.ts';
import type { QuantityChange, SeatChange, Subscription } from '../../../core/terms/subscriptions.ts';
import { contains, floorToHour, type Instant } from '../../../core/time.ts';
import { quantitySegments } from '../../../rating/subscriptions/quantities.ts';
import { requireEndAfterStart } from '../terms/terms-context.ts';

/** Refuses (`invalid`) the first bad field; `path` is the place of the patch in the request. */
export function patchedSubscription(
  subscription: Subscription,
  patch: SubscriptionPatch,
  path: string,
  now: Instant,
): Subscription {
  const { endingBefore, prorationRounding, seatGroupKey } = patch;
  if (endingBefore !== undefined) {
    requireEndAfterStart({ startingAt: subscription.startingAt, endingBefore }, path);
  }
  const changed: Subscription = {
    ...subscription,
    endingBefore: endingBefore === undefined ? subscription.endingBefore : endingBefore,
    prorationRounding: prorationRounding === undefined ? subscription.prorationRounding : prorationRounding,
  };
  const managed = seatGroupKey === undefined ? changed : withSeats(changed, seatGroupKey, path, now);
  const counted = withQuantities(managed, patch.quantityUpdates, `${path}.quantity_updates`);
  return patch.seatUpdates === undefined
    ? counted
    : withSeatUpdates(counted, patch.seatUpdates, `${path}.seat_updates`);
}

/** The present quantity becomes unassigned seats, and so do the quantities that were scheduled. */
function withSeats(
  subscription: Subscription,
  seatGroupKey: string,
  path: string,
  now: Instant,
): Subscription {
  const field = `${path}.quantity_management_mode_update`;
  if (subscription.quantityManagementMode === 'SEAT_BASED') {
    throw invalid(`${field}.quantity_management_mode`, 'the subscription is SEAT_BASED already');
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

/** Applied one after the other: after none of them may the quantity be negative at any time. */
function withQuantities(
  subscription: Subscription,
  updates: readonly QuantityChange[],
  path: string,
): Subscription {
  let changed = subscription;
  for (const [index, update] of updates.entries()) {
    const field = `${path}[${index}]`;
    if (subscription.quantityManagementMode === 'SEAT_BASED') {
      throw invalid(field, 'is for QUANTITY_ONLY subscriptions: use seat_updates');
    }
    requireWithin(subscription, update.startingAt, `${field}.starting_at`);
    checkQuantity(update, field);
    changed = { ...changed, quantityChanges: [...changed.quantityChanges, update] };
    if (quantitySegments(changed).some(({ quantity }) => quantity.lt(ZERO))) {
      const name = update.quantity === null ? 'quantity_delta' : 'quantity';
      throw invalid(`${field}.${name}`, 'makes the quantity negative');
    }
  }
  return changed;
}

function checkQuantity({ quantity, quantityDelta }: QuantityChange, field: string): void {
  if (quantity === null && quantityDelta === null) {
    throw invalid(`${field}.quantity`, 'is required without quantity_delta');
  }
  if (quantity !== null && quantityDelta !== null) {
    throw invalid(`${field}.quantity_delta`, 'cannot be combined with quantity');
  }
  if (quantityDelta?.eq(ZERO)) throw invalid(`${field}.quantity_delta`, 'must not be 0');
}

/**
 * What is taken away comes first and what is added last, new empty seats before the seats that take them:
 * so a seat can be given to somebody else in one edit without a change of the quantity.
 */
function withSeatUpdates(subscription: Subscription, updates: SeatUpdates, path: string): Subscription {
  if (subscription.quantityManagementMode !== 'SEAT_BASED') {
    throw invalid(path, 'is for SEAT_BASED subscriptions: use quantity_updates');
  }
  const lists = {
    remove_seat_ids: updates.remove,
    remove_unassigned_seats: updates.removeUnassigned,
    add_unassigned_seats: updates.addUnassigned,
    add_seat_ids: updates.add,
  };
  for (const [name, list] of Object.entries(lists)) {
    for (const [index, { startingAt }] of list.entries()) {
      requireWithin(subscription, startingAt, `${path}.${name}[${index}].starting_at`);
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
  field: string,
): void {
  if (!contains({ start, end }, at)) throw invalid(field, 'must lie within the subscription');
}
