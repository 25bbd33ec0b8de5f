import { expect, test } from 'vitest';
import { createThrottle } from '../../../../../src/app/commands/backup/throttle.ts';

test('a throttled read stays below the rate, and does not catch up after a pause at once', async () => {
  let now = 0;
  const throttle = createThrottle(
    1_000_000,
    async (ms) => {
      now += ms;
    },
    () => now,
  );
  for (let piece = 0; piece < 100; piece += 1) await throttle(100_000);
  expect(now).toBeCloseTo(10_000, 0);
  now += 60_000;
  const afterPause = now;
  for (let piece = 0; piece < 10; piece += 1) await throttle(100_000);
  expect(now - afterPause).toBeGreaterThanOrEqual(900);
});
