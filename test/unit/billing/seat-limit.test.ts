import { expect, test } from 'vitest';
import { checkSeatLimit } from '../../../src/billing/contracts/terms/seat-limit.ts';
import type { SeatChange, Subscription } from '../../../src/core/terms/subscriptions.ts';
import { DAY_MS } from '../../../src/core/time.ts';
import { subscriptionWith } from '../core/terms/fixtures.ts';

const more = (day: number, count: number): SeatChange => ({
  ...{ startingAt: day * DAY_MS, kind: 'ADD_UNASSIGNED', seatId: null, count },
});
const fewer = (day: number, count: number): SeatChange => ({
  ...more(day, count),
  kind: 'REMOVE_UNASSIGNED',
});
const seats = (...seatChanges: SeatChange[]): Subscription =>
  subscriptionWith({ quantityManagementMode: 'SEAT_BASED', seatGroupKey: 'user', seatChanges });

const check = (before: Subscription[], after: Subscription, seatsMax?: number) => () =>
  checkSeatLimit(before, [after], seatsMax, () => ['seats']);

test('the highest number of seats at any time counts', () => {
  expect(check([], seats(more(0, 2), more(5, 9), fewer(6, 9)), 10)).toThrow('at most 10 seats');
  expect(check([], seats(more(0, 2), fewer(5, 1), more(5, 9)), 10)).not.toThrow();
});

test('without a configured limit 1,000 are allowed', () => {
  expect(check([], seats(more(0, 1_000)))).not.toThrow();
  expect(check([], seats(more(0, 1_001)))).toThrow('at most 1000 seats');
});

test('a subscription with more than a lowered limit keeps them and can be changed, but gets no further ones', () => {
  const before = seats(more(0, 20));
  expect(check([before], { ...before, name: 'Renamed' }, 10)).not.toThrow();
  expect(check([before], seats(more(0, 20), fewer(1, 3)), 10)).not.toThrow();
  expect(check([before], seats(more(0, 20), more(1, 1)), 10)).toThrow('at most 10 seats');
});

test('a quantity that becomes seats counts from then on', () => {
  const before = subscriptionWith({});
  expect(check([before], seats(more(0, 11)), 10)).toThrow('at most 10 seats');
});
