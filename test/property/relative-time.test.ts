/** Relative dates against a calendar that is turned day by day and knows nothing of Unix time. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addRelative, RELATIVE_UNITS, type RelativeDate } from '../../src/core/relative-time.ts';
import { formatInstant } from '../../src/core/time.ts';
import { runs } from '../support/shares-of-tests.ts';

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function lengthOf(year: number, month: number): number {
  const isLeap = year % 400 === 0 || (year % 4 === 0 && year % 100 !== 0);
  return month === 2 && isLeap ? 29 : (MONTH_LENGTHS[month - 1] ?? 0);
}

function nextDay({ year, month, day }: Day): Day {
  if (day < lengthOf(year, month)) return { year, month, day: day + 1 };
  return month < 12 ? { year, month: month + 1, day: 1 } : { year: year + 1, month: 1, day: 1 };
}

function nextMonth({ year, month, day }: Day): Day {
  return month < 12 ? { year, month: month + 1, day } : { year: year + 1, month: 1, day };
}

function turned(from: Day, { unit, value }: RelativeDate): Day {
  const steps = unit === 'WEEKS' ? 7 * value : unit === 'YEARS' ? 12 * value : value;
  let at = from;
  if (unit === 'DAYS' || unit === 'WEEKS') {
    for (let step = 0; step < steps; step += 1) at = nextDay(at);
    return at;
  }
  for (let step = 0; step < steps; step += 1) at = nextMonth(at);
  return { ...at, day: Math.min(at.day, lengthOf(at.year, at.month)) };
}

const two = (value: number) => String(value).padStart(2, '0');
const written = ({ year, month, day }: Day, time: string) => `${year}-${two(month)}-${two(day)}T${time}Z`;

const start = fc
  .record({
    year: fc.integer({ min: 1970, max: 2150 }),
    month: fc.integer({ min: 1, max: 12 }),
    // The ends of months matter most.
    day: fc.oneof(fc.integer({ min: 1, max: 31 }), fc.integer({ min: 28, max: 31 })),
  })
  .map((from): Day => ({ ...from, day: Math.min(from.day, lengthOf(from.year, from.month)) }));
const time = fc
  .record({ hour: fc.integer({ min: 0, max: 23 }), minute: fc.integer({ min: 0, max: 59 }) })
  .map(({ hour, minute }) => `${two(hour)}:${two(minute)}:00.000`);
const distance: fc.Arbitrary<RelativeDate> = fc
  .constantFrom(...RELATIVE_UNITS)
  .chain((unit) =>
    fc.integer({ min: 0, max: unit === 'YEARS' ? 60 : 500 }).map((value) => ({ unit, value })),
  );

describe('a relative date', () => {
  test('a relative date is where a calendar that is turned by hand says', () => {
    fc.assert(
      fc.property(start, time, distance, (from, at, date) => {
        const result = addRelative(Date.parse(written(from, at)), date);
        expect(formatInstant(result)).toBe(written(turned(from, date), at));
      }),
      { numRuns: runs(2_000) },
    );
  });

  test('a relative date is later, the farther it is, in one unit', () => {
    fc.assert(
      fc.property(start, distance, (from, date) => {
        const origin = Date.parse(written(from, '00:00:00.000'));
        const farther = { ...date, value: date.value + 1 };
        expect(addRelative(origin, farther)).toBeGreaterThan(addRelative(origin, date));
      }),
    );
  });
});
