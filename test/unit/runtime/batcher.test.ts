/** Work for many callers together (src/runtime/batcher.ts). */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createBatcher } from '../../../src/runtime/batcher.ts';
import { createScopeKey } from '../../../src/runtime/request-scope.ts';

it('a batcher answers each item once, in batches in the order of the questions that are never too large', async () => {
  const items = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(items, async (sizes) => {
      const batches: number[][] = [];
      const batcher = createBatcher<number, string>({
        name: 'test',
        sizeMax: 10,
        sizeOf: (size) => size,
        async work(batch) {
          batches.push([...batch]);
          return batch.map((size, index) => `${batches.length}.${index}: ${size}`);
        },
      });
      const answers = await Promise.all(sizes.map(batcher.ask));
      expect(answers).toEqual(
        batches.flatMap((batch, b) => batch.map((size, i) => `${b + 1}.${i}: ${size}`)),
      );
      expect(batches.flat()).toEqual(sizes);
      for (const batch of batches) {
        if (batch.length > 1) expect(batch.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(10);
      }
      expect(batcher.figures()).toEqual({ runs: batches.length, failures: 0, waiting: 0 });
    }),
    { numRuns: 50 },
  );
});

it('a batch that fails rejects its own items only, and items asked meanwhile are of the next one', async () => {
  const begun: number[][] = [];
  const batcher = createBatcher<number, number>({
    name: 'test',
    sizeMax: 100,
    async work(items) {
      begun.push([...items]);
      if (begun.length === 1) {
        later = batcher.ask(3);
        throw new Error('failed');
      }
      return items;
    },
  });
  let later: Promise<number> = Promise.resolve(0);
  await expect(Promise.all([batcher.ask(1), batcher.ask(2)])).rejects.toThrow('failed');
  expect(await later).toBe(3);
  await batcher.close();
  expect(begun).toEqual([[1, 2], [3]]);
});

it('a batcher works outside of the scope of its callers', async () => {
  const request = createScopeKey<string>('request');
  const batcher = createBatcher<number, string | undefined>({
    name: 'test',
    sizeMax: 1,
    work: async (items) => items.map(() => request.get()),
  });
  expect(await request.run('first', () => Promise.all([batcher.ask(1), batcher.ask(2)]))).toEqual([
    undefined,
    undefined,
  ]);
});

it('a batcher that is closed has answered what it was asked before', async () => {
  const answered: number[] = [];
  const batcher = createBatcher<number, number>({ name: 'test', sizeMax: 1, work: async (items) => items });
  for (const item of [1, 2, 3]) void batcher.ask(item).then((answer) => answered.push(answer));
  await batcher.close();
  expect(answered).toEqual([1, 2, 3]);
});
