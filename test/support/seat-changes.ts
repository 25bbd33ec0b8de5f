/** Random changes of the seats of a subscription. */
import fc from 'fast-check';
import type { SeatChange } from '../../src/core/terms/subscriptions.ts';
import { HOUR_MS, type Instant } from '../../src/core/time.ts';

/** Up to 15 within so many hours, of four named seats and some that are unassigned, in any order. */
export function seatChangesFrom(start: Instant, hours: number): fc.Arbitrary<SeatChange[]> {
  const change = fc.record({
    startingAt: fc.nat(hours).map((hour) => start + hour * HOUR_MS),
    kind: fc.constantFrom('ADD', 'ADD', 'REMOVE', 'ADD_UNASSIGNED', 'REMOVE_UNASSIGNED'),
    seatId: fc.constantFrom('a', 'b', 'c', 'd'),
    count: fc.nat(3),
  });
  return fc.array(change, { maxLength: 15 }).map((all) =>
    all.map(({ kind, seatId, count, ...one }): SeatChange => {
      const isNamed = kind === 'ADD' || kind === 'REMOVE';
      return { ...one, kind, seatId: isNamed ? seatId : null, count: isNamed ? null : count };
    }),
  );
}
