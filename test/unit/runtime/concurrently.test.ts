import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { mapConcurrently } from '../../../src/runtime/concurrently.ts';

test('so many items are worked on at a time, and the results are in the order of the items', async () => {
  let running = 0;
  let most = 0;
  const results = await mapConcurrently([5, 1, 3, 2, 4], 3, async (item, index) => {
    running += 1;
    most = Math.max(most, running);
    await pause(item);
    running -= 1;
    return `${index}: ${item}`;
  });
  expect(results).toEqual(['0: 5', '1: 1', '2: 3', '3: 2', '4: 4']);
  expect(most).toBe(3);
  expect(await mapConcurrently([], 3, async () => 1)).toEqual([]);
});

test('after a failure nothing is begun, and nothing runs any more', async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const work = async (item: number) => {
    begun.push(item);
    await pause(item);
    if (item === 2) throw new Error('two');
    ended.push(item);
  };
  await expect(mapConcurrently([20, 2, 3, 4], 2, work)).rejects.toThrow('two');
  expect(begun).toEqual([20, 2]);
  expect(ended).toEqual([20]);
});
