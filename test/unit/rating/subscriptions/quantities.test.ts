import { expect, test } from 'vitest';
import { decimal } from '../../../../src/core/decimal.ts';
import type { QuantityChange, SeatChange } from '../../../../src/core/terms/subscriptions.ts';
import { DAY_MS } from '../../../../src/core/time.ts';
import { seatIdsFrom, seatSegments } from '../../../../src/rating/quantities/subscription-quantities.ts';
import { subscriptionWith } from '../../core/terms/fixtures.ts';

const day = (n: number) => n * DAY_MS;

function set(at: number, quantity: string): QuantityChange {
  return { startingAt: day(at), quantity: decimal(quantity), quantityDelta: null };
}

function add(at: number, quantityDelta: string): QuantityChange {
  return { startingAt: day(at), quantity: null, quantityDelta: decimal(quantityDelta) };
}

function seat(at: number, kind: SeatChange['kind'], what: string | number): SeatChange {
  const named = typeof what === 'string';
  return { startingAt: day(at), kind, seatId: named ? what : null, count: named ? null : what };
}

/** `[first day, day after the last or null, quantity, seats]`. */
function segments(changes: {
  quantities?: QuantityChange[];
  seats?: SeatChange[];
  end?: number;
}): (string | number | null)[][] {
  const subscription = subscriptionWith({
    startingAt: day(0),
    endingBefore: changes.end === undefined ? null : day(changes.end),
    quantityChanges: changes.quantities ?? [],
    seatChanges: changes.seats ?? [],
  });
  const found = seatSegments(subscription);
  const ids = seatIdsFrom(subscription, new Set(found.map(({ interval }) => interval.start)));
  return found.map(({ interval, quantity }) => [
    interval.start / DAY_MS,
    interval.end === null ? null : interval.end / DAY_MS,
    quantity.toString(),
    (ids.get(interval.start) ?? []).join(' '),
  ]);
}

test('a quantity holds until the next change, whatever the order of submission', () => {
  expect(segments({ quantities: [set(0, '5'), set(20, '7'), set(10, '6')] })).toEqual([
    [0, 10, '5', ''],
    [10, 20, '6', ''],
    [20, null, '7', ''],
  ]);
});

test('a later delta applies to the new base, and changes of one day in the order of submission', () => {
  expect(segments({ quantities: [set(0, '5'), add(20, '1'), set(10, '12'), add(10, '-1')] })).toEqual([
    [0, 10, '5', ''],
    [10, 20, '11', ''],
    [20, null, '12', ''],
  ]);
});

test('changes after the end do not count, and what does not change is one segment', () => {
  expect(segments({ quantities: [set(0, '5'), set(3, '5'), set(10, '6')], end: 8 })).toEqual([
    [0, 8, '5', ''],
  ]);
  expect(segments({ quantities: [set(0, '5')], end: 0 })).toEqual([]);
});

test('new seats take unassigned ones first and raise the quantity only beyond them', () => {
  const seats = [
    seat(0, 'ADD', 'ada'),
    seat(0, 'ADD_UNASSIGNED', 1),
    seat(1, 'ADD', 'bob'),
    seat(2, 'ADD', 'eve'),
  ];
  expect(segments({ seats })).toEqual([
    [0, 1, '2', 'ada'],
    [1, 2, '2', 'ada bob'],
    [2, null, '3', 'ada bob eve'],
  ]);
});

test('removing unknown seats, adding known ones and removing more empty ones than there are does nothing', () => {
  const seats = [
    seat(0, 'ADD', 'ada'),
    seat(1, 'ADD', 'ada'),
    seat(2, 'REMOVE', 'nobody'),
    seat(3, 'REMOVE_UNASSIGNED', 4),
    seat(4, 'REMOVE', 'ada'),
  ];
  expect(segments({ seats })).toEqual([
    [0, 4, '1', 'ada'],
    [4, null, '0', ''],
  ]);
});

test('a subscription that is switched to seats counts them from then on', () => {
  expect(
    segments({ quantities: [set(0, '5')], seats: [seat(3, 'ADD_UNASSIGNED', 5), seat(4, 'ADD', 'a')] }),
  ).toEqual([
    [0, 4, '5', ''],
    [4, null, '5', 'a'],
  ]);
});
