/** Windows that are walked through from an instant on are those between the boundaries of the period. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HOUR_MS } from '../../src/core/time.ts';
import {
  type WindowSize,
  windowBoundaries,
  windowsDownFrom,
  windowsFrom,
} from '../../src/rating/invoices/breakdown.ts';

const HALF_HOUR = HOUR_MS / 2;
const START = Date.UTC(2026, 9, 1);

function windowsBetween(period: { readonly start: number; readonly end: number }, size: WindowSize) {
  const [first = 0, ...rest] = windowBoundaries(period, size);
  let start = first;
  return rest.map((end) => {
    const window = { start, end };
    start = end;
    return window;
  });
}

test('each window that starts there or later, and in the other direction there or earlier, and no other', () => {
  const halfHours = fc.integer({ min: -100, max: 300 });
  const period = fc.tuple(halfHours, fc.integer({ min: 0, max: 200 })).map(([start, length]) => ({
    start: START + start * HALF_HOUR,
    end: START + (start + length) * HALF_HOUR,
  }));
  fc.assert(
    fc.property(period, fc.constantFrom<WindowSize>('hour', 'day'), halfHours, (lies, size, at) => {
      const from = START + at * HALF_HOUR;
      const all = windowsBetween(lies, size);
      expect([...windowsFrom(lies, size, from)]).toEqual(all.filter(({ start }) => start >= from));
      expect([...windowsDownFrom(lies, size, from)]).toEqual(
        all.filter(({ start }) => start <= from).reverse(),
      );
    }),
  );
});
