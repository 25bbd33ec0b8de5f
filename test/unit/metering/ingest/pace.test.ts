import { expect, test } from 'vitest';
import { createPace } from '../../../../src/metering/ingest/pace.ts';

test('a pace lets some through at once, and then one in each interval', () => {
  let now = 1_000;
  const pace = createPace(3, 100, () => now);
  expect([1, 2, 3, 4, 5].map(() => pace.take())).toEqual([0, 0, 0, 100, 200]);
  now += 250;
  expect(pace.take()).toBe(50);
  now += 10_000;
  expect([1, 2, 3, 4].map(() => pace.take())).toEqual([0, 0, 0, 100]);
});
