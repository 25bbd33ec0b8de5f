import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keptValues } from '../../../src/core/kept-values.ts';

const weightOf = (value: readonly number[]) => value.length;

test('a value is found under its key and version, and under no other', () => {
  const kept = keptValues({ weightMax: 10, weightOf });
  kept.put('a', 'v1', [1]);
  expect(kept.get('a', 'v1')).toEqual([1]);
  expect(kept.get('a', 'v2')).toBeNull();
  expect(kept.get('b', 'v1')).toBeNull();
  kept.put('a', 'v2', [2]);
  expect([kept.get('a', 'v1'), kept.get('a', 'v2')]).toEqual([null, [2]]);
});

test('the kept value that was used longest ago is removed first, and a value above the bound is not kept', () => {
  const kept = keptValues({ weightMax: 4, weightOf });
  kept.put('a', 'v', [1, 1]);
  kept.put('b', 'v', [2, 2]);
  kept.get('a', 'v');
  kept.put('c', 'v', [3]);
  expect(['a', 'b', 'c'].map((key) => kept.has(key))).toEqual([true, false, true]);
  kept.put('a', 'w', [1, 1, 1, 1, 1]);
  expect(['a', 'b', 'c'].map((key) => kept.has(key))).toEqual([false, false, true]);
});

test('values never weigh more than the bound together, and a value found is the last one put', () => {
  const step = fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd'),
    version: fc.constantFrom('v', 'w'),
    value: fc.array(fc.nat(9), { maxLength: 6 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.nat(12), (steps, weightMax) => {
      const kept = keptValues({ weightMax, weightOf });
      const last = new Map<string, (typeof steps)[number]>();
      for (const one of steps) {
        kept.put(one.key, one.version, one.value);
        last.set(one.key, one);
        const found = [...last.values()].filter(({ key, version }) => kept.get(key, version) !== null);
        expect(found.reduce((sum, { value }) => sum + value.length, 0)).toBeLessThanOrEqual(weightMax);
        for (const { key, version, value } of found) expect(kept.get(key, version)).toBe(value);
      }
    }),
  );
});
