import { describe, expect, it } from 'vitest';
import { cutPage, type PageRequest, pageWithRows } from '../../../src/core/paging.ts';

describe('a page', () => {
  const rows = [1, 2, 3].map((at) => ({ at, id: `r${at}` }));

  it('a page ends with the position of its last row where more rows follow', () => {
    expect(cutPage(rows, 2, ({ id }) => id)).toEqual({ rows: rows.slice(0, 2), next: 'r2' });
  });
  it('a page ends with null where nothing follows, also when it is full', () => {
    expect(cutPage(rows, 3, ({ id }) => id)).toEqual({ rows, next: null });
    expect(cutPage([], 3, String)).toEqual({ rows: [], next: null });
  });
  it('a page cannot be asked for without rows', () => {
    expect(() => cutPage(rows, 0, ({ id }) => id)).toThrow('at least one row');
  });
});

describe('a page of a list that is filtered after it is read', () => {
  /** Lists the rows 1 to `total` in `shown`. */
  function list(total: number, shown: readonly number[]) {
    const limits: number[] = [];
    const read = async ({ after, limit }: PageRequest<number>) => {
      limits.push(limit);
      const start = after ?? 0;
      const end = Math.min(total, start + limit);
      return { rows: shown.filter((row) => row > start && row <= end), next: end < total ? end : null };
    };
    return { limits, page: (request: PageRequest<number>) => pageWithRows(request, read, (row) => row) };
  }

  it('a page of a list that is filtered after it is read is read once where it has a row, or where the list ends', async () => {
    const { limits, page } = list(30, [3]);
    expect(await page({ after: null, limit: 10 })).toEqual({ rows: [3], next: 10 });
    expect(await page({ after: 25, limit: 10 })).toEqual({ rows: [], next: null });
    expect(limits).toEqual([10, 10]);
  });
  it('reading continues in growing steps to a row, and ends with it where they found more than it holds', async () => {
    const { limits, page } = list(1_000, [650, 651, 652]);
    expect(await page({ after: null, limit: 2 })).toEqual({ rows: [650, 651], next: 651 });
    expect(limits).toEqual([2, 4, 8, 16, 32, 64, 128, 200, 200]);
    expect(await page({ after: 651, limit: 2 })).toEqual({ rows: [652], next: 653 });
  });
  it('a page of a list that is filtered after it is read has no row after 5,000 without one', async () => {
    const { limits, page } = list(1_000_000, [900_000]);
    const { rows, next } = await page({ after: null, limit: 100 });
    expect(rows).toEqual([]);
    expect(next).toBe(limits.reduce((sum, limit) => sum + limit));
    expect(next).toBeGreaterThanOrEqual(5_000);
    expect(next).toBeLessThan(5_200);
    const wide = list(1_000_000, [900_000]);
    await wide.page({ after: null, limit: 10_000 });
    expect(wide.limits).toEqual([10_000]);
  });
});
