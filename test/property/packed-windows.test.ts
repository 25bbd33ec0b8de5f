/** Packed windows of lines: what is taken page by page is what was added, to the last digit, whatever had to be given up. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PackedWindows } from '../../src/billing/invoices/breakdowns/packed-windows.ts';
import { type Decimal, decimal, sum } from '../../src/core/decimal.ts';
import { groupBy } from '../../src/core/group-by.ts';
import { DAY_MS, HOUR_MS, type Interval } from '../../src/core/time.ts';
import { runs } from '../support/shares-of-tests.ts';

/** Begins within a day, and ends within another one. */
const PERIOD = { start: 5 * HOUR_MS, end: 3 * DAY_MS + 7 * HOUR_MS };
const HOURS = (PERIOD.end - PERIOD.start) / HOUR_MS;

const number = fc
  .tuple(
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.\d{1,25}$/)),
  )
  .map(([whole, fraction]) => decimal(`${whole}${fraction}`));
const amount = fc.record({ hour: fc.nat(HOURS - 1), quantity: number, total: number });
type Amount = { readonly hour: number; readonly quantity: Decimal; readonly total: Decimal };
const lines = fc.array(
  fc
    .uniqueArray(amount, { selector: ({ hour }) => hour, maxLength: 20 })
    .map((own) => own.toSorted((a, b) => a.hour - b.hour)),
  { maxLength: 12 },
);

function windowAt(hour: number): Interval {
  const start = PERIOD.start + hour * HOUR_MS;
  return { start, end: start + HOUR_MS };
}

/** The window of an hour, of which the first day and the last one are shorter. */
function windowOf(hour: number, size: 'hour' | 'day'): Interval {
  if (size === 'hour') return windowAt(hour);
  const day = Math.floor(windowAt(hour).start / DAY_MS) * DAY_MS;
  return { start: Math.max(day, PERIOD.start), end: Math.min(day + DAY_MS, PERIOD.end) };
}

/** All windows, also those in which nothing changed. */
const WINDOWS = {
  hour: Array.from({ length: HOURS }, (_, hour) => windowOf(hour, 'hour')),
  day: [5, 24, 48, 72].map((hour) => windowOf(hour - 5, 'day')),
};

/** Start of the window, position of the line, quantity and total. */
type Cell = readonly [number, number, string, string];

function compare(a: Cell, b: Cell): number {
  return a[0] - b[0] || a[1] - b[1];
}

/** Line by line, window by window. */
function summed(content: readonly (readonly Amount[])[], size: 'hour' | 'day'): Cell[] {
  return content.flatMap((own, position) =>
    [...groupBy(own, ({ hour }) => windowOf(hour, size).start)].map(
      ([start, parts]): Cell => [
        start,
        position,
        sum(parts.map(({ quantity }) => quantity)).toFixed(),
        sum(parts.map(({ total }) => total)).toFixed(),
      ],
    ),
  );
}

it('packed windows are taken in either order, in pages of any size, as they were added', () => {
  const given = {
    content: lines,
    size: fc.constantFrom('hour' as const, 'day' as const),
    order: fc.constantFrom('ascending' as const, 'descending' as const),
    perPage: fc.integer({ min: 1, max: 30 }),
    room: fc.constantFrom(0, 1_000, 1_000_000),
  };
  fc.assert(
    fc.property(fc.record(given), ({ content, size, order, perPage, room }) => {
      const added = content.map((own) =>
        own.map(({ hour, ...rest }) => ({ window: windowAt(hour), ...rest })),
      );
      const windows = WINDOWS[size].toSorted((a, b) =>
        order === 'ascending' ? a.start - b.start : b.start - a.start,
      );
      const taken: Cell[] = [];
      for (let first = 0, packed: PackedWindows | null = null; first < windows.length; first += perPage) {
        const page = windows.slice(first, first + perPage);
        const [starts, ends] = [page.map(({ start }) => start), page.map(({ end }) => end)];
        const time = { start: Math.min(...starts), end: Math.max(...ends) };
        if (packed === null || !packed.covers(time)) {
          const rest =
            order === 'ascending' ? { ...time, end: PERIOD.end } : { ...time, start: PERIOD.start };
          packed = new PackedWindows(PERIOD, size, rest, order);
          for (const [position, own] of added.entries()) {
            packed.add(position, own);
            packed.fitInto(room, time);
          }
          expect(packed.covers(time)).toBe(true);
          if (room === 1_000_000) expect(packed.covers(rest)).toBe(true);
        }
        for (const { position, window, quantity, total } of packed.take(page))
          taken.push([window.start, position, quantity.toFixed(), total.toFixed()]);
      }
      expect(taken.toSorted(compare)).toEqual(summed(content, size).toSorted(compare));
    }),
    { numRuns: runs(300) },
  );
});
