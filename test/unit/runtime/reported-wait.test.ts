import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { reportedWait } from '../../../src/runtime/reported-wait.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('a wait is reported after 10 s and then every minute, and not when it has ended', async () => {
  const lines: string[] = [];
  let end = (_result: string) => {};
  const work = () =>
    new Promise<string>((resolve) => {
      end = resolve;
    });
  const result = reportedWait({ what: 'the store', say: (line) => lines.push(line) }, work);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(lines).toEqual([]);
  await vi.advanceTimersByTimeAsync(60_001);
  expect(lines).toEqual([
    'the start waits for the store, for 10 s now',
    'the start waits for the store, for 70 s now',
  ]);
  end('done');
  expect(await result).toBe('done');
  await vi.advanceTimersByTimeAsync(61_000);
  expect(lines).toHaveLength(2);
});

it('a wait that fails is reported no more, and its caller gets the failure', async () => {
  const lines: string[] = [];
  const failing = async () => {
    throw new Error('gone');
  };
  await expect(reportedWait({ what: 'the store', say: (line) => lines.push(line) }, failing)).rejects.toThrow(
    'gone',
  );
  await vi.advanceTimersByTimeAsync(60_000);
  expect(lines).toEqual([]);
});
