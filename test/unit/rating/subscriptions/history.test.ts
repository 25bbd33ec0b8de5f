import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimal } from '../../../../src/core/decimal.ts';
import type { SeatChange } from '../../../../src/core/terms/subscriptions.ts';
import { HOUR_MS } from '../../../../src/core/time.ts';
import {
  quantitySegments,
  seatIdsFrom,
  seatSegments,
} from '../../../../src/rating/quantities/subscription-quantities.ts';
import { runs } from '../../../support/shares-of-tests.ts';
import { subscriptionWith } from '../../core/terms/fixtures.ts';

const HOURS = 24;
const hour = fc.integer({ min: 0, max: HOURS + 4 });
const seatId = fc.constantFrom('ada', 'bob', 'eve', 'zoe');

const change = fc.oneof(
  fc.record({ hour, kind: fc.constantFrom('ADD' as const, 'REMOVE' as const), seatId }),
  fc.record({
    hour,
    kind: fc.constantFrom('ADD_UNASSIGNED' as const, 'REMOVE_UNASSIGNED' as const),
    count: fc.integer({ min: 1, max: 3 }),
  }),
);
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

function toSeatChange(one: Change): SeatChange {
  const { kind, hour: at } = one;
  const what = 'seatId' in one ? { seatId: one.seatId, count: null } : { seatId: null, count: one.count };
  return { startingAt: at * HOUR_MS, kind, ...what };
}

/** The seats hour by hour: a list of names, with null for each unassigned seat. */
function seatsByHour(changes: readonly Change[]): (string | null)[][] {
  let seats: (string | null)[] = [];
  return Array.from({ length: HOURS }, (_, at) => {
    for (const one of changes.filter(({ hour: start }) => start === at)) {
      if ('seatId' in one) {
        const others = seats.filter((seat) => seat !== one.seatId);
        const isKnown = others.length < seats.length;
        if (one.kind === 'REMOVE') seats = others;
        else if (!isKnown) {
          const empty = seats.indexOf(null);
          seats = [...(empty < 0 ? seats : seats.toSpliced(empty, 1)), one.seatId];
        }
      } else if (one.kind === 'ADD_UNASSIGNED') {
        seats = [...seats, ...Array.from({ length: one.count }, () => null)];
      } else {
        for (let left = one.count; left > 0 && seats.includes(null); left -= 1) {
          seats = seats.toSpliced(seats.indexOf(null), 1);
        }
      }
    }
    return seats;
  });
}

test('seat segments cover the life of a subscription without gaps, and agree with the seats of every hour and with the quantity', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 25 }), (changes) => {
      const subscription = subscriptionWith({
        ...{ startingAt: 0, endingBefore: HOURS * HOUR_MS, quantityManagementMode: 'SEAT_BASED' },
        // A subscription has seats from its start on.
        seatChanges: [
          { startingAt: 0, kind: 'ADD_UNASSIGNED', seatId: null, count: 0 },
          ...changes.map(toSeatChange),
        ],
      });
      const segments = seatSegments(subscription);
      const ids = seatIdsFrom(subscription, new Set(segments.map(({ interval }) => interval.start)));
      let end: number | null = 0;
      for (const { interval } of segments) {
        expect(interval.start).toBe(end);
        end = interval.end;
      }
      expect(end).toBe(HOURS * HOUR_MS);
      for (const [at, seats] of seatsByHour(changes).entries()) {
        const segment = segments.findLast(({ interval }) => interval.start <= at * HOUR_MS);
        expect([...(ids.get(segment?.interval.start ?? -1) ?? [])].sort()).toEqual(
          seats.filter((seat) => seat !== null).sort(),
        );
        expect(segment?.quantity.toFixed()).toBe(String(seats.length));
        const quantity = quantitySegments(subscription).findLast(
          ({ interval }) => interval.start <= at * HOUR_MS,
        );
        expect(quantity?.quantity.toFixed()).toBe(String(seats.length));
      }
    }),
    { numRuns: runs(600) },
  );
});

test('100,000 seats that are added one by one, each in a separate hour, are counted in time', () => {
  const seatChanges = Array.from(
    { length: 100_000 },
    (_, index): SeatChange => ({
      ...{ startingAt: index * HOUR_MS, kind: 'ADD', seatId: `seat ${index}`, count: null },
    }),
  );
  const subscription = subscriptionWith({ startingAt: 0, quantityManagementMode: 'SEAT_BASED', seatChanges });
  const segments = seatSegments(subscription);
  expect(segments).toHaveLength(100_000);
  const last = segments.at(-1);
  expect(last?.quantity).toEqual(decimal('100000'));
  const start = last?.interval.start ?? 0;
  expect(seatIdsFrom(subscription, new Set([start])).get(start)).toHaveLength(100_000);
});
