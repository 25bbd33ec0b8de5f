import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { coveringSegments, type ScheduleSegment, withSegment } from '../../src/core/named-schedules.ts';

const WRITES_MAX = 12;
const INSTANTS = 20;

const write = fc
  .record({
    startingAt: fc.integer({ min: 0, max: INSTANTS - 1 }),
    length: fc.option(fc.integer({ min: 1, max: INSTANTS }), { nil: null }),
    value: fc.integer({ min: 0, max: 99 }).map(String),
  })
  .map(({ startingAt, length, value }): ScheduleSegment => {
    return { startingAt, endingBefore: length === null ? null : startingAt + length, value };
  });

describe('a named schedule', () => {
  test('a named schedule has at every instant what was last written over it, in segments that do not overlap', () => {
    fc.assert(
      fc.property(fc.array(write, { minLength: 1, maxLength: WRITES_MAX }), (writes) => {
        const segments = writes.reduce<ScheduleSegment[]>(withSegment, []);
        for (let at = -1; at <= 2 * INSTANTS + 1; at += 1) {
          const [last] = coveringSegments(writes.toReversed(), at);
          const found = coveringSegments(segments, at);
          expect(found.map(({ value }) => value)).toEqual(last === undefined ? [] : [last.value]);
        }
        const starts = segments.map(({ startingAt }) => startingAt);
        expect(starts).toEqual([...starts].sort((a, b) => a - b));
        for (const { startingAt, endingBefore } of segments) {
          expect(endingBefore === null || startingAt < endingBefore).toBe(true);
        }
      }),
    );
  });
});
