/** How many invoices of a run are read together. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextGroupSize } from '../../../src/billing/invoices/compute/compute-run.ts';

test('a group is never larger than its limit, nor smaller than the first', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 125 }), fc.double({ min: 0, noNaN: true }), (size, fullness) => {
      const next = nextGroupSize(size, fullness);
      expect(Number.isInteger(next)).toBe(true);
      expect(next).toBeGreaterThanOrEqual(25);
      expect(next).toBeLessThanOrEqual(125);
    }),
  );
});

test('customers with as much usage as those before take half of the room at most, unless that is too few', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 125 }),
      fc.double({ min: 0.001, max: 1, noNaN: true }),
      (size, fullness) => {
        const next = nextGroupSize(size, fullness);
        expect(next === 25 || (fullness / size) * next <= 0.5 + 1e-9).toBe(true);
      },
    ),
  );
});

test('usage that does not fit is read in the smallest groups, and little usage in the largest', () => {
  expect(nextGroupSize(125, Number.POSITIVE_INFINITY)).toBe(25);
  expect(nextGroupSize(25, 0)).toBe(125);
  expect(nextGroupSize(25, 0.033)).toBe(125);
});
