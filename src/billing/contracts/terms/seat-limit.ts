/** Limits the seats of a subscription (docs/explanation/subscriptions.md, "Seats"). Pure. */
import { type Decimal, decimal, maximum, ZERO } from '../../../core/decimal.ts';
import { type FieldPath, invalid } from '../../../core/errors.ts';
import { SEATS_MAX_DEFAULT, type Subscription } from '../../../core/terms/subscriptions.ts';
import { seatSegments } from '../../../rating/quantities/subscription-quantities.ts';

/**
 * Refuses (`invalid`) a subscription that gets more seats than the limit at any time. One that already has more may
 * keep them, for example after the limit was lowered. `seatsMax` undefined: the default.
 */
export function checkSeatLimit(
  before: readonly Subscription[],
  after: readonly Subscription[],
  seatsMax: number | undefined,
  pathOf: (subscription: Subscription) => FieldPath,
): void {
  const most = decimal(String(seatsMax ?? SEATS_MAX_DEFAULT));
  const known = new Map(before.map((one) => [one.id, one]));
  for (const subscription of after) {
    const earlier = known.get(subscription.id);
    if (earlier?.seatChanges === subscription.seatChanges) continue;
    const seats = highestSeats(subscription);
    if (seats.lte(most) || seats.lte(earlier === undefined ? ZERO : highestSeats(earlier))) continue;
    throw invalid(
      pathOf(subscription),
      `a subscription has at most ${most.toString()} seats, this one would have ${seats.toString()}`,
    );
  }
}

function highestSeats(subscription: Subscription): Decimal {
  if (subscription.quantityManagementMode !== 'SEAT_BASED') return ZERO;
  return seatSegments(subscription).reduce((most, { quantity }) => maximum(most, quantity), ZERO);
}
