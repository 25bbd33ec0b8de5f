import { describe, expect, it } from 'vitest';
import { createRightOfWay } from '../../../src/runtime/right-of-way.ts';

const HOUR_MS = 3_600_000;

function pending() {
  let settle: { resolve(): void; reject(error: Error): void } = { resolve() {}, reject() {} };
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, resolve: () => settle.resolve(), reject: (error: Error) => settle.reject(error) };
}

describe('a run that gives way', () => {
  it('a run that gives way continues at once while nobody waits', async () => {
    const way = createRightOfWay(HOUR_MS);
    await way.during(async () => undefined);
    await expect(way.giveWay()).resolves.toBeUndefined();
  });

  it('a run that gives way continues when the last request is answered, also one that fails', async () => {
    const way = createRightOfWay(HOUR_MS);
    const [first, second] = [pending(), pending()];
    const requests = [way.during(() => first.promise), way.during(() => second.promise)];
    let hasGoneOn = false;
    const run = way.giveWay().then(() => {
      hasGoneOn = true;
    });
    first.resolve();
    await requests[0];
    expect(hasGoneOn).toBe(false);
    second.reject(new Error('refused'));
    await expect(requests[1]).rejects.toThrow('refused');
    await run;
  });

  it('a run that gives way continues after a while, however many requests there are', async () => {
    const way = createRightOfWay(1);
    const { promise, resolve } = pending();
    const request = way.during(() => promise);
    await expect(way.giveWay()).resolves.toBeUndefined();
    await expect(way.giveWay()).resolves.toBeUndefined();
    resolve();
    await request;
  });
});
