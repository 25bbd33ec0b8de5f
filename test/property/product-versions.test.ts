/** Product versions against a model that asks, for every term and hour, which update set it last. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ProductChanges,
  type ProductUpdate,
  type StoredProductVersion,
  versionsOf,
} from '../../src/store/products/product-versions.ts';
import { runs } from '../support/shares-of-tests.ts';

const HOURS = 12;

const INITIAL: StoredProductVersion = {
  startingAt: null,
  name: 'initial',
  tags: ['initial'],
  billableMetricId: 'metric-initial',
  sqlBreakdownGranularity: null,
  quantityConversion: null,
  quantityRounding: null,
  pricingGroupKey: [],
  presentationGroupKey: [],
  compositeProductIds: [],
  compositeTags: [],
  excludeFreeUsage: false,
  includeCompositeSpend: false,
  createdAt: 0,
  createdBy: 'tests',
};

const changes: fc.Arbitrary<ProductChanges> = fc.record(
  {
    name: fc.constantFrom('one', 'two', 'three'),
    tags: fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 }),
    billableMetricId: fc.constantFrom('metric-1', 'metric-2'),
    quantityRounding: fc.constantFrom(null, { method: 'ROUND_UP' as const, decimalPlaces: 2 }),
    excludeFreeUsage: fc.boolean(),
  },
  { requiredKeys: [] },
);

const updates: fc.Arbitrary<ProductUpdate[]> = fc.array(
  fc.record({
    startingAt: fc.integer({ min: 0, max: HOURS - 1 }),
    changes,
    createdAt: fc.integer({ min: 1, max: 5 }),
    createdBy: fc.constantFrom('ann', 'bob'),
  }),
  { maxLength: 8 },
);

const TERMS = ['name', 'tags', 'billableMetricId', 'quantityRounding', 'excludeFreeUsage'] as const;

function lastSet(made: readonly ProductUpdate[], term: (typeof TERMS)[number], hour: number): unknown {
  let value: unknown = INITIAL[term];
  for (let at = 0; at <= hour; at += 1) {
    for (const update of made) {
      if (update.startingAt === at && update.changes[term] !== undefined) value = update.changes[term];
    }
  }
  return value;
}

describe('versions of a product', () => {
  test('versions of a product hold in every hour what was set last, term by term', () => {
    fc.assert(
      fc.property(updates, (made) => {
        const versions = versionsOf(INITIAL, made);
        for (let hour = 0; hour < HOURS; hour += 1) {
          const inForce = versions.findLast(({ startingAt }) => startingAt === null || startingAt <= hour);
          for (const term of TERMS) expect(inForce?.[term]).toEqual(lastSet(made, term, hour));
        }
      }),
      { numRuns: runs(1_000) },
    );
  });

  test('versions of a product begin with the initial one and ascend, one for each start', () => {
    fc.assert(
      fc.property(updates, (made) => {
        const [initial, ...later] = versionsOf(INITIAL, made).map(({ startingAt }) => startingAt);
        expect(initial).toBeNull();
        expect(later).toEqual([...new Set(made.map(({ startingAt }) => startingAt))].sort((a, b) => a - b));
      }),
    );
  });
});
