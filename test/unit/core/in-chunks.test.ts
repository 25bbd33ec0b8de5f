import { describe, expect, test } from 'vitest';
import { CHUNK_ITEMS, mapInChunks } from '../../../src/core/in-chunks.ts';

describe('mapInChunks', () => {
  test.each([0, 1, CHUNK_ITEMS, CHUNK_ITEMS + 1, 3 * CHUNK_ITEMS])(
    'mapInChunks gives what map gives, for %i items',
    async (count) => {
      const items = Array.from({ length: count }, (_, index) => index);
      expect(await mapInChunks(items, (item) => item * 2)).toEqual(items.map((item) => item * 2));
    },
  );

  test('mapInChunks lets other work run between parts that take long', async () => {
    const done: number[] = [];
    let count = 0;
    const timer = setImmediate(() => done.push(count));
    await mapInChunks([1, 2, 3], () => {
      const end = performance.now() + 20;
      while (performance.now() < end);
      count += 1;
    });
    clearImmediate(timer);
    expect(done).toEqual([1]);
  });

  test('mapInChunks rejects with what the function throws', async () => {
    const failing = mapInChunks([1], () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
  });
});
