import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTurns } from '../../../../src/metering/ingest/turns.ts';

/** A batch with room for so many requests; `written` makes room for as many again. */
function createRoom(places: number, { waitingMax = 100, waitMs = 1_000 } = {}) {
  let left = places;
  const turns = createTurns({ hasRoom: () => left > 0, waitingMax, waitMs });
  const taken: string[] = [];
  const take = async (name: string) => {
    const turn = turns.enter();
    if (turn !== null) await turn;
    taken.push(left > 0 ? name : `${name} without room`);
    left -= 1;
    if (turn !== null) turns.leave();
  };
  const written = () => {
    left = places;
    turns.wake();
  };
  return { turns, take, taken, written };
}

const immediate = () =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe('requests that wait for room', () => {
  test('requests with room are taken at once', () => {
    const { turns } = createRoom(2);
    expect(turns.enter()).toBe(null);
  });

  test('requests without room are taken in the order of their arrival when there is room again, and never beyond it', async () => {
    const { take, taken, written } = createRoom(2);
    const all = Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(take));
    await immediate();
    expect(taken).toEqual(['a', 'b']);
    written();
    // It arrives later than those who wait.
    const late = take('g');
    await immediate();
    await immediate();
    expect(taken).toEqual(['a', 'b', 'c', 'd']);
    written();
    await immediate();
    written();
    await Promise.all([all, late]);
    expect(taken).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  });

  test('requests whose turn ends with an error leave the room to the next', async () => {
    const { turns, take, taken, written } = createRoom(1);
    await take('a');
    const failed = (async () => {
      await turns.enter();
      turns.leave();
      throw new Error('invalid');
    })();
    const next = take('b');
    written();
    await expect(failed).rejects.toThrow('invalid');
    await next;
    expect(taken).toEqual(['a', 'b']);
  });

  test('requests beyond the most that may wait are refused as overloaded', async () => {
    const { turns, take } = createRoom(1, { waitingMax: 1 });
    await take('a');
    const waits = take('b');
    expect(() => turns.checkLength()).toThrow(expect.objectContaining({ kind: 'overloaded' }));
    await expect(take('c')).rejects.toMatchObject({ kind: 'overloaded' });
    turns.close();
    await expect(waits).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('requests that wait for long', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('requests that have waited as long as they may are refused as overloaded, and later ones still wait', async () => {
    const { take, taken, written } = createRoom(1);
    await take('a');
    const first = take('b').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(800);
    const second = take('c');
    await vi.advanceTimersByTimeAsync(700);
    expect(await first).toMatchObject({ kind: 'overloaded' });
    written();
    await vi.advanceTimersByTimeAsync(1);
    await second;
    expect(taken).toEqual(['a', 'c']);
  });
});
