import fc from 'fast-check';
import { expect, test } from 'vitest';
import { resultAtOnce } from '../../../src/core/in-chunks.ts';
import { sortedInSteps } from '../../../src/core/sort-in-steps.ts';

interface Item {
  readonly key: number;
  readonly position: number;
}

/** Few keys, so that many are equal; long enough for several steps. */
const list = fc
  .tuple(fc.integer({ min: 0, max: 1_500 }), fc.integer({ min: 1, max: 200 }), fc.nat(1_000))
  .map(([length, keys, seed]) =>
    Array.from({ length }, (_, position) => ({ key: (position * 7919 * (seed + 1)) % keys, position })),
  );
const byKey = (a: Item, b: Item) => a.key - b.key;

test('a list sorted in steps is the stably sorted list, and the given one stays as it is', () => {
  fc.assert(
    fc.property(list, (items) => {
      const given = [...items];
      expect(resultAtOnce(sortedInSteps(items, byKey))).toEqual([...items].sort(byKey));
      expect(items).toEqual(given);
    }),
  );
});

test('a step compares few items, however long the list is', () => {
  let compared = 0;
  const items = Array.from({ length: 20_000 }, (_, index) => ({
    key: (index * 7919) % 20_011,
    position: index,
  }));
  const steps = sortedInSteps(items, (a, b) => {
    compared += 1;
    return byKey(a, b);
  });
  while (steps.next().done !== true) {
    expect(compared).toBeLessThan(4_000);
    compared = 0;
  }
});
