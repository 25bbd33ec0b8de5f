import { expect, it } from 'vitest';
import { createRateLimits } from '../../../src/access/rate-limits.ts';
import { Refusal } from '../../../src/core/errors.ts';

const rates = { ingest: 0, read: 5, write: 2 };

/** How many of `requests` are let through. */
function passed(take: () => void, requests: number): number {
  let passes = 0;
  for (let request = 0; request < requests; request += 1) {
    try {
      take();
      passes += 1;
    } catch (error) {
      if (!(error instanceof Refusal && error.kind === 'overloaded')) throw error;
    }
  }
  return passes;
}

it('the rate limit lets a token use ten seconds of its rate at once, then its rate, without saving up more', () => {
  let nowMs = 0;
  const take = createRateLimits(rates, () => nowMs);
  expect(passed(() => take('a', 'read'), 100)).toBe(50);
  nowMs += 1_000;
  expect(passed(() => take('a', 'read'), 100)).toBe(5);
  nowMs += 3_600_000;
  expect(passed(() => take('a', 'read'), 100)).toBe(50);
});

it('the rate limit counts tokens and families apart: reads take nothing from writes', () => {
  const take = createRateLimits(rates, () => 0);
  passed(() => take('a', 'read'), 100);
  expect(passed(() => take('a', 'write'), 100)).toBe(20);
  expect(passed(() => take('b', 'read'), 100)).toBe(50);
});

it('the rate limit does not limit a family whose rate is 0', () => {
  const take = createRateLimits(rates, () => 0);
  expect(passed(() => take('a', 'ingest'), 10_000)).toBe(10_000);
});
