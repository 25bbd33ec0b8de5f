import { expect, test } from 'vitest';
import { createPlaces } from '../../../src/core/places.ts';

test('no more work runs and waits than there are places, the others are refused, and each in its order', async () => {
  const places = createPlaces({ atOnceMax: 2, waitingMax: 3 }, 'too many');
  const ends: (() => void)[] = [];
  const begun: number[] = [];
  const asked = Array.from({ length: 7 }, (_, number) =>
    places.take(async () => {
      begun.push(number);
      await new Promise<void>((resolve) => ends.push(resolve));
      return number;
    }),
  );
  const outcomes = Promise.allSettled(asked);
  expect(begun).toEqual([0, 1]);
  expect(places.figures()).toEqual({ running: 2, waiting: 3 });
  for (let ended = 0; ended < 5; ended += 1) {
    await expect.poll(() => ends.length).toBeGreaterThan(0);
    ends.shift()?.();
  }
  expect(await outcomes).toMatchObject([
    ...[0, 1, 2, 3, 4].map((value) => ({ status: 'fulfilled', value })),
    ...[5, 6].map(() => ({ status: 'rejected', reason: { kind: 'overloaded' } })),
  ]);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect(places.figures()).toEqual({ running: 0, waiting: 0 });
});

test('work that fails gives its place to the next', async () => {
  const places = createPlaces({ atOnceMax: 1, waitingMax: 1 }, 'too many');
  const failing = places.take(() => Promise.reject(new Error('lost')));
  const next = places.take(async () => 'done');
  await expect(failing).rejects.toThrow('lost');
  expect(await next).toBe('done');
});
