/** Attempts and their pauses (src/runtime/retry.ts), and the list of mechanisms (src/runtime/figures.ts). */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMetrics } from '../../../src/api/http/metrics.ts';
import { mechanismMeasures } from '../../../src/api/http/service-measures.ts';
import { createCache } from '../../../src/runtime/cache.ts';
import { figureByMechanism } from '../../../src/runtime/figures.ts';
import { backoffMs, type RetryOptions, retry } from '../../../src/runtime/retry.ts';

class Transient extends Error {}

const TRANSIENT: RetryOptions<unknown> = {
  name: 'test',
  isTransient: (error) => error instanceof Transient,
};

it('a backoff doubles from the first pause, never exceeds the longest, and jitter at most halves it', () => {
  const failures = fc.integer({ min: 1, max: 2_000 });
  const random = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(failures, random, (count, value) => {
      const whole = backoffMs(count, { firstMs: 50, maxMs: 5_000 });
      expect(whole).toBe(count > 7 ? 5_000 : 50 * 2 ** (count - 1));
      const jittered = backoffMs(count, { firstMs: 50, maxMs: 5_000 }, () => value);
      expect(jittered).toBeGreaterThanOrEqual(whole / 2);
      expect(jittered).toBeLessThanOrEqual(whole);
    }),
  );
});

it('a retry ends with the first success, a failure that does not pass, or the last attempt', async () => {
  const outcomes = fc.array(fc.constantFrom('done', 'transient', 'lasting'), { minLength: 6, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(outcomes, fc.integer({ min: 1, max: 5 }), async (steps, attemptsMax) => {
      let attempts = 0;
      const work = async () => {
        const step = steps[attempts];
        attempts += 1;
        if (step === 'transient') throw new Transient();
        if (step === 'lasting') throw new TypeError();
        return step;
      };
      const exhausted = () => new RangeError();
      const end = await retry(work, { ...TRANSIENT, attemptsMax, exhausted }).catch(
        (error: unknown) => error,
      );
      const first = steps.findIndex((step) => step !== 'transient');
      const isExhausted = first === -1 || first >= attemptsMax;
      expect(attempts).toBe(isExhausted ? attemptsMax : first + 1);
      if (isExhausted) expect(end).toBeInstanceOf(RangeError);
      else if (steps[first] === 'done') expect(end).toBe('done');
      else expect(end).toBeInstanceOf(TypeError);
    }),
  );
});

it('an abort ends the pause of a retry, and one more attempt is the last', async () => {
  const ending = new AbortController();
  let attempts = 0;
  const work = async () => {
    attempts += 1;
    setImmediate(() => ending.abort());
    throw new Transient();
  };
  const retried = retry(work, { ...TRANSIENT, pauseMs: () => 60_000, signal: ending.signal });
  await expect(retried).rejects.toBeInstanceOf(Transient);
  expect(attempts).toBe(2);
});

it('mechanisms of one kind and name are counted together in the list and in /metrics', async () => {
  const named = 'counted in a test';
  for (const value of [1, 2]) createCache({ name: named, sizeMax: 3 }).set('a', value);
  expect(figureByMechanism('size').get(`cache ${named}`)).toBe(2);
  expect(figureByMechanism('runs').has(`cache ${named}`)).toBe(false);
  let attempts = 0;
  await retry(
    async () => {
      attempts += 1;
      if (attempts < 3) throw new Transient();
    },
    { ...TRANSIENT, name: named },
  );
  const counts = (['runs', 'failures', 'retries'] as const).map((figure) =>
    figureByMechanism(figure).get(`retry ${named}`),
  );
  expect(counts).toEqual([1, 2, 2]);
  const shown = await createMetrics(mechanismMeasures).expose();
  expect(shown).toContain(`tallyhouse_mechanism_size{mechanism="cache ${named}"} 2`);
  expect(shown).toContain(`tallyhouse_mechanism_retries_total{mechanism="retry ${named}"} 2`);
});
