import { describe, expect, it } from 'vitest';
import { readiness } from '../../../src/app/readiness.ts';

const watch = { problems: () => [], check: async () => {} } as unknown as Parameters<
  typeof readiness
>[0]['watch'];
const stores = { ping: async () => {} };

describe('readiness', () => {
  it('is there when the stores answer, nothing is missing and there is room', async () => {
    expect(await readiness({ stores, watch, dataDir: '/' })).toMatchObject({
      ready: true,
      checks: { stores: true, data: true, disk: true },
    });
  });

  it('is answered in time although a store does not answer', async () => {
    const silent = { ping: () => new Promise<void>(() => {}) };
    const startedAt = performance.now();
    expect(await readiness({ stores: silent, watch, dataDir: undefined })).toMatchObject({
      ready: false,
      checks: { stores: false, data: true, disk: true },
    });
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it('is missing where a store is gone, or its directory cannot be written', async () => {
    const gone = { ping: () => Promise.reject(new Error('gone')) };
    expect(await readiness({ stores: gone, watch, dataDir: '/no/such/directory' })).toMatchObject({
      ready: false,
      checks: { stores: false, disk: false },
    });
  });
});
