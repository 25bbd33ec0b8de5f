/** When usage is evaluated, as the pace of evaluations has it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createEvaluationPace } from '../../../src/billing/evaluation-pace.ts';

const WAIT_MAX_MS = 10_000;
const UNKNOWN_WAIT_MS = 3_000;
const LEARN_WAIT_MS = 500;
const newPace = () =>
  createEvaluationPace({
    waitMaxMs: WAIT_MAX_MS,
    unknownWaitMs: UNKNOWN_WAIT_MS,
    learnWaitMs: LEARN_WAIT_MS,
  });
const at = (left: number) => new Map([['line', left]]);

/** A customer whose `events` have changed `changed` in all, and who is now `left` from the line. */
function measured({ events, changed, left }: { events: number; changed: number; left: number }) {
  const pace = newPace();
  pace.found('a', at(left + changed));
  pace.waitMs('a', events);
  pace.begin(['a']);
  pace.found('a', at(left));
  return pace;
}

test('usage is urgent when twice what its events have changed before could cross the line', () => {
  const pace = newPace();
  expect(pace.waitMs('a', 1)).toBe(UNKNOWN_WAIT_MS);
  pace.begin(['a']);
  pace.found('a', at(1_000));
  // The first usage is learned from soon, however far the line is.
  expect(pace.waitMs('a', 10)).toBe(LEARN_WAIT_MS);
  pace.begin(['a']);
  pace.found('a', at(900));
  // 10 of each event, 900 left: 45 events could be 900 if each were twice as much.
  expect(pace.waitMs('a', 9)).toBe(8_000);
  expect(pace.waitMs('a', 35)).toBeGreaterThan(0);
  expect(pace.waitMs('a', 1)).toBe(0);
});

test('events during an evaluation count for the next', () => {
  const pace = newPace();
  pace.found('a', at(1_000));
  pace.waitMs('a', 10);
  pace.begin(['a']);
  pace.waitMs('a', 40);
  pace.found('a', at(900));
  expect(pace.waitMs('a', 5)).toBe(0);
});

test('usage that changes nothing, or that no line is of, waits as long as usage may', () => {
  const pace = newPace();
  pace.found('a', at(1_000));
  for (let found = 0; found < 2; found += 1) {
    pace.waitMs('a', 10);
    pace.begin(['a']);
    pace.found('a', at(1_000));
  }
  expect(pace.waitMs('a', 1_000_000)).toBe(WAIT_MAX_MS);
  pace.found('b', at(Number.POSITIVE_INFINITY));
  expect(pace.waitMs('b', 1_000_000)).toBe(WAIT_MAX_MS);
  pace.found('c', new Map());
  expect(pace.waitMs('c', 1_000_000)).toBe(WAIT_MAX_MS);
});

test('usage that the evaluation before has already seen does not make the next usage calm', () => {
  const pace = newPace();
  // The evaluation sees an event that is counted after it has begun.
  pace.begin(['a']);
  pace.found('a', at(900));
  pace.waitMs('a', 10);
  pace.begin(['a']);
  pace.found('a', at(900));
  expect(pace.waitMs('a', 1)).toBe(LEARN_WAIT_MS);
});

test('a balance that is filled up does not make the events that follow smaller', () => {
  const pace = measured({ events: 10, changed: 100, left: 50 });
  pace.waitMs('a', 1);
  pace.begin(['a']);
  pace.found('a', at(900));
  expect(pace.waitMs('a', 44)).toBeGreaterThan(0);
  expect(pace.waitMs('a', 1)).toBe(0);
});

test('of several lines the one that usage comes to first decides, and one that is gone does not', () => {
  const pace = newPace();
  for (const [near, far] of [
    [1_000, 100],
    [900, 99],
  ]) {
    pace.waitMs('a', 10);
    pace.begin(['a']);
    pace.found('a', new Map([...at(near ?? 0), ['slow', far ?? 0]]));
  }
  expect(pace.waitMs('a', 45)).toBe(0);
  pace.begin(['a']);
  pace.found('a', new Map([['slow', 99]]));
  expect(pace.waitMs('a', 45)).toBeGreaterThan(0);
});

const count = fc.integer({ min: 1, max: 10_000 });
const distance = fc.double({ min: 0, max: 1e9, noNaN: true });
const histories = fc.array(
  fc.record({ events: fc.integer({ min: 0, max: 10_000 }), left: fc.oneof(distance, fc.constant(Infinity)) }),
  { maxLength: 8 },
);

test('usage never waits longer than the limit, whatever was found before', () => {
  fc.assert(
    fc.property(histories, count, (history, events) => {
      const pace = newPace();
      pace.found('a', new Map());
      for (const one of history) {
        if (one.events > 0) pace.waitMs('a', one.events);
        pace.begin(['a']);
        pace.found('a', at(one.left));
      }
      const waitMs = pace.waitMs('a', events);
      expect(waitMs).toBeGreaterThanOrEqual(0);
      expect(waitMs).toBeLessThanOrEqual(WAIT_MAX_MS);
    }),
  );
});

test('usage that has crossed the line, if each event changes up to twice what was seen before, is urgent', () => {
  fc.assert(
    fc.property(
      count,
      fc.integer({ min: 1, max: 1_000_000 }),
      distance,
      fc.double({ min: 0, max: 2, noNaN: true }),
      (events, changed, left, factor) => {
        const pace = measured({ events, changed, left });
        // The smallest number of events that cross it.
        const crossing = Math.ceil((left * events) / (factor * changed));
        fc.pre(Number.isSafeInteger(crossing) && crossing > 0);
        // One more makes up for what floating point loses.
        expect(pace.waitMs('a', crossing + 1)).toBe(0);
      },
    ),
  );
});

test('the nearer the line, and the more usage, the sooner the evaluation', () => {
  fc.assert(
    fc.property(
      count,
      count,
      distance,
      distance,
      count,
      count,
      (events, changed, one, other, first, more) => {
        const [near, far] = [Math.min(one, other), Math.max(one, other)];
        const wait = (left: number, used: number) => measured({ events, changed, left }).waitMs('a', used);
        expect(wait(near, first)).toBeLessThanOrEqual(wait(far, first));
        expect(wait(far, first + more)).toBeLessThanOrEqual(wait(far, first));
      },
    ),
  );
});

test('a line that is reached makes all usage urgent, whatever events have changed', () => {
  fc.assert(
    fc.property(histories, fc.double({ min: -1e9, max: 0, noNaN: true }), count, (history, left, events) => {
      const pace = newPace();
      for (const one of history) {
        pace.waitMs('a', one.events);
        pace.begin(['a']);
        pace.found('a', at(one.left));
      }
      pace.found('a', at(left));
      expect(pace.waitMs('a', events)).toBe(0);
    }),
  );
});
