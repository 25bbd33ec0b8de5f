import { describe, expect, it } from 'vitest';
import { answerLimits, createAnswerStreams } from '../../../src/api/http/answer-streams.ts';

const GIB = 1024 ** 3;
const limits = { bytes: 2, streamBytes: 1, waiting: 2, waitMs: 200, answerMs: 60_000 };
const never = new AbortController().signal;

/** Pieces without end, and how many such answers are being written. */
function source() {
  let [making, most] = [0, 0];
  async function* pieces(): AsyncGenerator<number, void, undefined> {
    making += 1;
    most = Math.max(most, making);
    try {
      for (let piece = 0; ; piece += 1) yield piece;
    } finally {
      making -= 1;
    }
  }
  return { pieces, making: () => making, most: () => most };
}

describe('answers that are written while they are sent', () => {
  it.each([
    [GIB / 4, 1],
    [GIB, 1],
    [2 * GIB, 3],
    [64 * GIB, 8],
  ])(
    'answers that are written while they are sent of a process with %i bytes: so many at once',
    (memoryBytes, open) => {
      const { bytes, streamBytes } = answerLimits(memoryBytes);
      expect(bytes / streamBytes).toBe(open);
    },
  );

  it('share one budget: the next begins when one has ended, and none is written beyond it', async () => {
    const { begin } = createAnswerStreams(limits);
    const of = source();
    const [first, second] = [await begin(of.pieces(), never), await begin(of.pieces(), never)];
    const waiting = [begin(of.pieces(), never), begin(of.pieces(), never)];
    expect((await first.next()).value).toBe(0);
    expect(of.making()).toBe(2);
    await first.return();
    const third = await waiting[0];
    expect((await third?.next())?.value).toBe(0);
    // Another one ends before its second piece is asked for.
    await second.next();
    await second.return();
    await waiting[1];
    expect([of.making(), of.most()]).toEqual([2, 2]);
  });

  it('answers that are written while they are sent are refused at once where too many wait, and in time where no place becomes free', async () => {
    const { begin } = createAnswerStreams(limits);
    const of = source();
    for (const _ of [1, 2]) await (await begin(of.pieces(), never)).next();
    const waiting = [begin(of.pieces(), never), begin(of.pieces(), never)];
    await expect(begin(of.pieces(), never)).rejects.toMatchObject({ kind: 'overloaded' });
    for (const each of waiting) await expect(each).rejects.toMatchObject({ kind: 'overloaded' });
    expect(of.making()).toBe(2);
  });

  it('answers that are written while they are sent leave their place when the client goes, also before it has read anything', async () => {
    const { begin } = createAnswerStreams({ ...limits, bytes: 1 });
    const of = source();
    const gone = new AbortController();
    await begin(of.pieces(), gone.signal);
    const left = new AbortController();
    const leaving = begin(of.pieces(), left.signal);
    const next = begin(of.pieces(), never);
    left.abort();
    await expect(leaving).rejects.toMatchObject({ kind: 'overloaded' });
    gone.abort();
    expect((await (await next).next()).value).toBe(0);
  });

  it('answers that are written while they are sent leave their place when they fail', async () => {
    const { begin } = createAnswerStreams({ ...limits, bytes: 1 });
    const failing = (at: number) =>
      (async function* () {
        for (let piece = 0; piece < at; piece += 1) yield piece;
        throw new Error('broken');
      })();
    await expect(begin(failing(0), never)).rejects.toThrow('broken');
    const begun = await begin(failing(1), never);
    await begun.next();
    await expect(begun.next()).rejects.toThrow('broken');
    expect((await (await begin(source().pieces(), never)).next()).value).toBe(0);
  });
});
