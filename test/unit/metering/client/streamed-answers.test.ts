/** Answers that are sent on while they are read: how much is in memory, and what ends them. */
import type { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createStreamedAnswers } from '../../../../src/metering/client/streamed-answers.ts';

const LONG = { idleMs: 60_000, answerMs: 60_000, open: 2 };
const PIECE = Buffer.alloc(64 * 1024);

/** Writes for as long as it is read. */
function endless() {
  const state = { written: 0, isClosed: false };
  const write = async (to: Writable) => {
    const closed = new Promise((resolve) => to.once('close', resolve)).then(() => {
      state.isClosed = true;
    });
    while (!to.destroyed) {
      state.written += 1;
      if (!to.write(PIECE)) await Promise.race([new Promise((resolve) => to.once('drain', resolve)), closed]);
    }
  };
  return { state, write };
}

test('little of an answer is ahead of its reader, and leaving ends it', async () => {
  const { state, write } = endless();
  const answer = createStreamedAnswers(LONG).read(write, undefined);
  for (let taken = 1; taken <= 50; taken += 1) {
    await answer.next();
    expect(state.written - taken).toBeLessThan(5);
  }
  expect(state.isClosed).toBe(false);
  await answer.return();
  expect(state.isClosed).toBe(true);
});

test.each([
  ['idleMs', 'nothing of an answer was taken'],
  ['answerMs', 'an answer was not taken within'],
])('an answer that is taken too slowly is ended: %s', async (limit, message) => {
  const { state, write } = endless();
  const answer = createStreamedAnswers({ ...LONG, [limit]: 1 }).read(write, undefined);
  const started = answer.next();
  await expect.poll(() => state.isClosed).toBe(true);
  await started.catch(() => {});
  const rest = async () => {
    for await (const piece of answer) expect(piece.length).toBeGreaterThan(0);
  };
  await expect(started.then(rest)).rejects.toThrow(message);
});

test('further answers are refused while many are under way', async () => {
  const answers = createStreamedAnswers(LONG);
  const open = [answers.read(endless().write, undefined), answers.read(endless().write, undefined)];
  for (const answer of open) await answer.next();
  await expect(answers.read(endless().write, undefined).next()).rejects.toMatchObject({ kind: 'overloaded' });
  await open[0]?.return();
  const next = answers.read(endless().write, undefined);
  expect((await next.next()).done).toBe(false);
  answers.end();
  await expect(next.next()).rejects.toMatchObject({ kind: 'unavailable' });
});

test('a failure comes after the pieces before it, and one at the start before any', async () => {
  const answers = createStreamedAnswers(LONG);
  const failing = answers.read(async () => {
    throw new Error('no memory');
  }, undefined);
  await expect(failing.next()).rejects.toThrow('no memory');
  const gone = AbortSignal.abort();
  await expect(answers.read(endless().write, gone).next()).rejects.toMatchObject({ kind: 'invalid' });
});
