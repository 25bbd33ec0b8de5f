import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BatchPosition,
  type BatchRun,
  type BatchWindows,
  firstRows,
  nextStretch,
  rowCount,
  windowStarts,
} from '../../../../src/billing/usage/batch-rows.ts';

const windows = { range: { start: 100, end: 130 }, lengthMs: 10 };

function rowsOf(runs: readonly BatchRun[], of: BatchWindows): string[] {
  return runs.flatMap((run) =>
    windowStarts(run, of).map((start) => `${run.customerId} ${run.metricId} ${start}`),
  );
}

function positionOf(row: string): BatchPosition {
  const [customerId = '', metricId = '', start] = row.split(' ');
  return { customerId, metricId, windowStart: Number(start) };
}

const ids = fc
  .uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 5 })
  .map((list) => list.sort());

describe('the rows of a page', () => {
  it('the rows of a page come by customer, then by metric, then by window', () => {
    const { runs, hasMore } = nextStretch(['a', 'b'], ['m', 'n'], windows, null, 7);
    expect(runs).toEqual([
      { customerId: 'a', metricId: 'm', interval: { start: 100, end: 130 } },
      { customerId: 'a', metricId: 'n', interval: { start: 100, end: 130 } },
      { customerId: 'b', metricId: 'm', interval: { start: 100, end: 110 } },
    ]);
    expect(hasMore).toBe(true);
  });

  it('the rows of a page are all rows once, whatever the size of the pages and wherever a page was cut short', () => {
    fc.assert(
      fc.property(
        ids,
        ids,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        (first, second, size, cut) => {
          const all = first.flatMap((customer) =>
            second.flatMap((metric) => [100, 110, 120].map((start) => `${customer} ${metric} ${start}`)),
          );
          const seen: string[] = [];
          for (let hasMore = true; hasMore; ) {
            const last = seen.at(-1);
            const stretch = nextStretch(
              first,
              second,
              windows,
              last === undefined ? null : positionOf(last),
              size,
            );
            const rows = rowsOf(stretch.runs, windows);
            const kept = rowsOf(firstRows(stretch.runs, windows, cut), windows);
            expect(kept).toEqual(rows.slice(0, cut));
            seen.push(...kept);
            hasMore = stretch.hasMore || kept.length < rows.length;
          }
          expect(seen).toEqual(all);
        },
      ),
    );
  });

  it('rows of a batch continue after a row whose customer and metric are gone', () => {
    const stretch = nextStretch(['a', 'c'], ['m', 'o'], windows, positionOf('b n 110'), 100);
    expect(rowsOf(stretch.runs, windows)[0]).toBe('c m 100');
    expect(stretch.hasMore).toBe(false);
  });

  it('the rows of a page are counted without being listed', () => {
    const century = { range: { start: 0, end: 36_525 * 86_400_000 }, lengthMs: 3_600_000 };
    expect(rowCount(century.range, century)).toBe(876_600);
    expect(nextStretch(['a'], ['m'], century, null, 5).runs[0]?.interval).toEqual({
      start: 0,
      end: 18_000_000,
    });
  });
});
