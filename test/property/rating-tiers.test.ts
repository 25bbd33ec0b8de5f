import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Decimal, decimal, ZERO } from '../../src/core/decimal.ts';
import { type PriceBands, priceBands, validateTiers, walkBands } from '../../src/rating/rates/tiers.ts';
import { fixed } from '../support/rating-scenarios.ts';
import { runs } from '../support/shares-of-tests.ts';

/** Widths and prices as whole numbers of grains; the last tier has no width. */
interface Grains {
  readonly sized: readonly (readonly [size: number, price: number])[];
  readonly lastPrice: number;
  /** Decimal places of a grain: 0 means whole units. */
  readonly places: number;
}

const PLACES_OF_A_PRICE = 3;

const grains: fc.Arbitrary<Grains> = fc.record({
  sized: fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 999_999 })), {
    maxLength: 4,
  }),
  lastPrice: fc.integer({ min: 0, max: 999_999 }),
  places: fc.constantFrom(0, 1, 7, 20),
});

const position = fc.integer({ min: -80, max: 300 });

function tiersOf({ sized, lastPrice, places }: Grains) {
  return [
    ...sized.map(([size, price]) => ({
      size: decimal(fixed(size, places)),
      price: decimal(fixed(price, PLACES_OF_A_PRICE)),
    })),
    { size: null, price: decimal(fixed(lastPrice, PLACES_OF_A_PRICE)) },
  ];
}

function bandsOf(given: Grains): PriceBands {
  return priceBands({ rateType: 'TIERED', tiers: tiersOf(given) }, ZERO);
}

/** Quantity and amount by level, of as many walks as given. */
function byLevel(...walks: ReturnType<typeof walkBands>[]): Record<number, string> {
  const sums = new Map<number, [Decimal, Decimal]>();
  for (const { band, quantity, amount } of walks.flat()) {
    const [q, a] = sums.get(band.level) ?? [ZERO, ZERO];
    sums.set(band.level, [q.plus(quantity), a.plus(amount)]);
  }
  return Object.fromEntries(
    [...sums].filter(([, [q]]) => !q.eq(ZERO)).map(([level, [q, a]]) => [level, `${q} = ${a}`]),
  );
}

/** Grain by grain: the n-th grain lies in the first tier whose bound is at least n. */
function naive({ sized, lastPrice, places }: Grains, from: number, to: number): Record<number, string> {
  const quantities = new Map<number, number>();
  const sign = to > from ? 1 : -1;
  for (let grain = Math.min(from, to) + 1; grain <= Math.max(from, to); grain += 1) {
    let level = 1;
    let bound = 0;
    for (const [size] of sized) {
      bound += size;
      if (grain <= bound) break;
      level += 1;
    }
    quantities.set(level, (quantities.get(level) ?? 0) + sign);
  }
  return Object.fromEntries(
    [...quantities].map(([level, quantity]) => {
      const price = sized[level - 1]?.[1] ?? lastPrice;
      const amount = decimal(fixed(quantity * price, places + PLACES_OF_A_PRICE));
      return [level, `${decimal(fixed(quantity, places))} = ${amount}`];
    }),
  );
}

describe('graduated tiers', () => {
  test('equal the naive calculation unit by unit, in whole units and in the finest decimals', () => {
    fc.assert(
      fc.property(grains, position, position, (given, from, to) => {
        const walked = walkBands(
          bandsOf(given),
          decimal(fixed(from, given.places)),
          decimal(fixed(to, given.places)),
        );
        expect(byLevel(walked)).toEqual(naive(given, from, to));
      }),
      { numRuns: runs(1_000) },
    );
  });

  test('graduated tiers from a to b and from b to c is from a to c, in every tier', () => {
    fc.assert(
      fc.property(grains, position, position, position, (given, a, b, c) => {
        const bands = bandsOf(given);
        const [from, middle, to] = [a, b, c].map((at) => decimal(fixed(at, given.places + 2)));
        if (from === undefined || middle === undefined || to === undefined)
          throw new Error('three positions');
        expect(byLevel(walkBands(bands, from, middle), walkBands(bands, middle, to))).toEqual(
          byLevel(walkBands(bands, from, to)),
        );
      }),
      { numRuns: runs(1_000) },
    );
  });

  test('each level occurs at most once in a walk, ascending', () => {
    fc.assert(
      fc.property(grains, position, position, (given, from, to) => {
        const walked = walkBands(
          bandsOf(given),
          decimal(fixed(from, given.places)),
          decimal(fixed(to, given.places)),
        );
        const levels = walked.map(({ band }) => band.level);
        expect(levels).toEqual([...new Set(levels)].sort((x, y) => x - y));
      }),
    );
  });

  test('the generated lists of tiers are valid; a list without an unbounded tier never is', () => {
    fc.assert(
      fc.property(grains, (given) => {
        const tiers = tiersOf(given);
        expect(validateTiers(tiers)).toBeNull();
        expect(validateTiers(tiers.slice(0, -1))).not.toBeNull();
      }),
    );
  });
});
