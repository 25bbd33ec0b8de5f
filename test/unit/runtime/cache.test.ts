/** Values by key, up to a size (src/runtime/cache.ts). */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createCache } from '../../../src/runtime/cache.ts';

/** The same by looking through a list, the value used last at its end. */
function createListed(sizeMax: number) {
  let list: { key: number; size: number }[] = [];
  const without = (key: number) => list.filter((one) => one.key !== key);
  const total = () => list.reduce((sum, { size }) => sum + size, 0);
  return {
    get(key: number) {
      const found = list.find((one) => one.key === key);
      if (found !== undefined) list = [...without(key), found];
      return found?.size;
    },
    set(key: number, size: number) {
      list = [...without(key), { key, size }];
      while (total() > sizeMax) list.shift();
    },
    delete(key: number) {
      list = without(key);
    },
    list: () => list.map(({ key, size }) => [key, size]),
    total,
  };
}

const calls = fc.array(
  fc.tuple(
    fc.constantFrom('get', 'set', 'delete'),
    fc.integer({ max: 5, min: 0 }),
    fc.integer({ max: 6, min: 1 }),
  ),
  { maxLength: 60 },
);

it('a cache has the values that were used last and fit into its size, and no others', () => {
  fc.assert(
    fc.property(calls, (steps) => {
      const cache = createCache<number, number>({ name: 'test', sizeMax: 10, sizeOf: (value) => value });
      const listed = createListed(10);
      for (const [call, key, size] of steps) {
        if (call === 'get') expect(cache.get(key)).toBe(listed.get(key));
        else if (call === 'set') for (const one of [cache, listed]) one.set(key, size);
        else for (const one of [cache, listed]) one.delete(key);
        expect(cache.entries()).toEqual(listed.list());
        expect(cache.figures().size).toBe(listed.total());
      }
    }),
  );
});

it('a cache counts how often a value was there, and how often not', () => {
  const cache = createCache<string, number>({ name: 'test', sizeMax: 1 });
  cache.set('a', 1);
  cache.get('a');
  cache.set('b', 2);
  cache.get('a');
  cache.get('b');
  expect(cache.figures()).toEqual({ size: 1, hits: 2, misses: 1 });
  cache.close();
  expect([cache.get('b'), cache.figures().size]).toEqual([undefined, 0]);
});
