/** Work that is repeated (src/runtime/poll.ts). */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPoll } from '../../../src/runtime/poll.ts';

describe('a poll', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('a poll waits for its interval after each end, so runs never overlap', async () => {
    let end: (() => void) | undefined;
    let begun = 0;
    const work = () => {
      begun += 1;
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    };
    const poll = createPoll({ name: 'test', intervalMs: 100, work, onFailure: () => {} });
    poll.start();
    expect(begun).toBe(0);
    await vi.advanceTimersByTimeAsync(100);
    expect(begun).toBe(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(begun).toBe(1);
    end?.();
    await vi.advanceTimersByTimeAsync(99);
    expect(begun).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(begun).toBe(2);
    const closed = poll.close();
    end?.();
    await closed;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(begun).toBe(2);
  });

  it('a poll reports the first of failures in a row, and continues', async () => {
    const outcomes = [new Error('first'), new Error('second'), null, new Error('third')];
    const reported: unknown[] = [];
    const poll = createPoll({
      name: 'test',
      intervalMs: 10,
      work: () => {
        const failure = outcomes.shift();
        if (failure instanceof Error) throw failure;
      },
      onFailure: (error) => reported.push((error as Error).message),
    });
    poll.start({ now: true });
    await vi.advanceTimersByTimeAsync(45);
    await poll.close();
    expect(reported).toEqual(['first', 'third']);
    expect(poll.figures()).toEqual({ runs: 5, failures: 3 });
  });

  it('a poll that is asked to run soon does so at once, and once more after a run in progress', async () => {
    const ends: (() => void)[] = [];
    const work = () => new Promise<void>((resolve) => void ends.push(resolve));
    const poll = createPoll({ name: 'test', intervalMs: 1_000, work, onFailure: () => {} });
    poll.soon();
    await vi.advanceTimersByTimeAsync(999);
    expect(ends).toHaveLength(0);
    poll.start();
    poll.soon();
    await vi.advanceTimersByTimeAsync(0);
    expect(ends).toHaveLength(1);
    poll.soon();
    poll.soon();
    ends[0]?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(ends).toHaveLength(2);
    ends[1]?.();
    await vi.advanceTimersByTimeAsync(999);
    expect(ends).toHaveLength(2);
    const closed = poll.close();
    poll.soon();
    await closed;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(ends).toHaveLength(2);
  });

  it('a poll that is asked to run within a time waits no longer than that, and no longer than its interval', async () => {
    const begun: number[] = [];
    const poll = createPoll({
      name: 'test',
      intervalMs: 1_000,
      work: () => void begun.push(Date.now()),
      onFailure: () => {},
    });
    const start = Date.now();
    poll.start();
    poll.soon(200);
    poll.soon(700);
    await vi.advanceTimersByTimeAsync(900);
    poll.soon(500);
    await vi.advanceTimersByTimeAsync(1_000);
    await poll.close();
    expect(begun.map((at) => at - start)).toEqual([200, 1_200]);
  });

  it('a poll asks for each of its intervals, with how long the run took and whether it failed', async () => {
    const asked: unknown[] = [];
    const begun: number[] = [];
    const poll = createPoll({
      name: 'test',
      intervalMs: (last) => asked.push(last) * 100,
      async work() {
        begun.push(Date.now());
        await new Promise((resolve) => setTimeout(resolve, 10));
        if (begun.length === 2) throw new Error('failed');
      },
      onFailure: () => {},
    });
    const start = Date.now();
    poll.start({ now: true });
    await vi.advanceTimersByTimeAsync(330);
    await poll.close();
    expect(begun.map((at) => at - start)).toEqual([0, 110, 320]);
    expect(asked.slice(0, 2)).toMatchObject([{ hasFailed: false }, { tookMs: 10, hasFailed: true }]);
  });

  it('a poll that is closed before it has started never runs', async () => {
    let runs = 0;
    const poll = createPoll({ name: 'test', intervalMs: 10, work: () => (runs += 1), onFailure: () => {} });
    await poll.close();
    poll.start({ now: true });
    await vi.advanceTimersByTimeAsync(100);
    expect(runs).toBe(0);
  });
});
