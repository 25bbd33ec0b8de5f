/** Changes of rates against the schedule that a card computes from all rates that were ever added. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PriceSpan, rateChanges } from '../../src/app/commands/prices/rate-changes.ts';
import { effectiveRates } from '../../src/rating/rates/rate-schedule.ts';
import { runs } from '../support/shares-of-tests.ts';

const HOURS = 14;

interface Price {
  readonly amount: number;
  readonly entitled: boolean;
}

interface Added {
  readonly startingAt: number;
  readonly endingBefore: number | null;
  readonly price: Price;
}

const added: fc.Arbitrary<Added[]> = fc.array(
  fc
    .record({
      startingAt: fc.integer({ min: 0, max: HOURS - 2 }),
      length: fc.option(fc.integer({ min: 1, max: 6 })),
      price: fc.record({ amount: fc.integer({ min: 1, max: 3 }), entitled: fc.boolean() }),
    })
    .map(({ startingAt, length, price }) => ({
      ...{ startingAt, price },
      endingBefore: length === null ? null : startingAt + length,
    })),
  { maxLength: 7 },
);

function spansOf(entries: readonly Added[]): PriceSpan<Price>[] {
  return effectiveRates(entries.map((entry, sequence) => ({ ...entry, sequence }))).map(
    ({ interval: { start, end }, entry: { price } }) => ({ start, end, price }),
  );
}

function priceAt(spans: readonly PriceSpan<Price>[], hour: number): Price | null {
  return spans.find(({ start, end }) => start <= hour && (end === null || hour < end))?.price ?? null;
}

const rules = {
  isSame: (a: Price, b: Price) => a.amount === b.amount && a.entitled === b.entitled,
  ended: (price: Price) => (price.entitled ? { ...price, entitled: false } : null),
};

test('rates that are added for a change give the wanted prices from its start on, leave the past, and leave nothing to add', () => {
  fc.assert(
    fc.property(added, added, fc.integer({ min: 0, max: HOURS }), (before, wish, from) => {
      const held = spansOf(before);
      const wanted = spansOf(wish);
      const changes = rateChanges({ held, wanted, from, ...rules });
      const entries = changes.map(({ start, end, price }) => ({
        ...{ startingAt: start, endingBefore: end, price },
      }));
      const after = spansOf([...before, ...entries]);
      const first = Math.max(from, wanted[0]?.start ?? from);
      for (let hour = 0; hour <= HOURS + 8; hour += 1) {
        const [old, now] = [priceAt(held, hour), priceAt(after, hour)];
        const wished = priceAt(wanted, hour);
        if (hour < first) expect(now).toEqual(old);
        else if (wished !== null) expect(now).toEqual(wished);
        else expect(now).toEqual(old === null ? null : { ...old, entitled: false });
      }
      expect(rateChanges({ held: after, wanted, from, ...rules })).toEqual([]);
    }),
    { numRuns: runs(5_000) },
  );
});
