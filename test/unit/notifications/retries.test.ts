import { expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '../../../src/core/time.ts';
import { nextAttemptAt, RETRIES_MS } from '../../../src/notifications/webhooks/retries.ts';

it('doubles the pauses from 5 seconds up to 15 minutes', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1_000].map((failures) => nextAttemptAt(failures, 0, RETRIES_MS));
  expect(pauses).toEqual([
    ...[5, 10, 20, 40, 80, 160, 320, 640].map((seconds) => seconds * SECOND_MS),
    15 * MINUTE_MS,
    15 * MINUTE_MS,
  ]);
});

it('the schedule of attempts ends after two days', () => {
  let attempts = 1;
  let at: number | null = 0;
  let last = 0;
  for (; at !== null; attempts += 1) {
    last = at;
    at = nextAttemptAt(attempts, at, RETRIES_MS);
  }
  expect(last).toBeLessThanOrEqual(RETRIES_MS);
  expect(last).toBeGreaterThan(RETRIES_MS - 15 * MINUTE_MS);
  expect(attempts - 1).toBe(199);
});
