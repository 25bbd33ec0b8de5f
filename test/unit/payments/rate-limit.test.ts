/** Requests to Stripe stay within its published rates, whatever mix of them is wanted at once. */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createRateLimit } from '../../../src/payments/stripe/rate-limit.ts';

const RATES = { account: 30, endpoint: 12 };
const SECOND_MS = 1_000;

function mostWithinASecond(times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + SECOND_MS).length));
}

async function burst(limit: ReturnType<typeof createRateLimit>, counts: Readonly<Record<string, number>>) {
  const sent: { readonly endpoint: string; readonly index: number; readonly at: number }[] = [];
  const wanted = Object.entries(counts).flatMap(([endpoint, count]) =>
    Array.from({ length: count }, (_, index) => ({ endpoint, index })),
  );
  await Promise.all(
    wanted.map(async (one) => {
      await limit.turn(one.endpoint);
      sent.push({ ...one, at: performance.now() });
    }),
  );
  return sent;
}

describe('requests that are wanted at once', () => {
  test('requests that are wanted at once never exceed the rate of their endpoint, nor that of the account, in any second; each endpoint in order', async () => {
    const sent = await burst(createRateLimit(RATES), { a: 20, b: 20, c: 20, d: 5 });
    expect(sent).toHaveLength(65);
    expect(mostWithinASecond(sent.map(({ at }) => at))).toBeLessThanOrEqual(RATES.account);
    for (const name of ['a', 'b', 'c', 'd']) {
      const own = sent.filter(({ endpoint }) => endpoint === name);
      expect(mostWithinASecond(own.map(({ at }) => at))).toBeLessThanOrEqual(RATES.endpoint);
      expect(own.map(({ index }) => index)).toEqual(own.map((_, index) => index));
    }
    // They use what they may: 65 of 30 a second are sent in three seconds, which begin after 0, 1.05 and 2.1 s.
    const times = sent.map(({ at }) => at);
    expect(times.filter((at) => at < Math.min(...times) + SECOND_MS).length).toBe(RATES.account);
  });

  test('count from when they are really sent', async () => {
    const limit = createRateLimit({ account: 1, endpoint: 1 });
    const held = limit.turn('a', () => pause(1_200)).then(() => performance.now());
    const next = limit.turn('b').then(() => performance.now());
    expect((await next) - (await held)).toBeGreaterThan(SECOND_MS);
  });

  test('wait for a rest too, if they wait already', async () => {
    const limit = createRateLimit({ account: 1, endpoint: 1 });
    await limit.turn('a');
    const waiting = limit.turn('a').then(() => performance.now());
    const begin = performance.now();
    limit.rest(1_500);
    expect((await waiting) - begin).toBeGreaterThanOrEqual(1_490);
  });

  test('requests that are wanted at once are not sent if they would have to wait for more than 15 seconds, and say for how long', async () => {
    const limit = createRateLimit({ account: 100, endpoint: 100 });
    limit.rest(20_000);
    const problem = await limit.turn('a').catch((error: unknown) => error);
    expect(problem).toMatchObject({ kind: 'busy', code: 'own_limit' });
    expect((problem as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(19_000);
  });
});
