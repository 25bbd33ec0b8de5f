import { describe, expect, it } from 'vitest';
import { cutPage } from '../../../src/core/paging.ts';

describe('a page', () => {
  const rows = [1, 2, 3].map((at) => ({ at, id: `r${at}` }));

  it('ends with the position of its last row where more rows follow', () => {
    expect(cutPage(rows, 2, ({ id }) => id)).toEqual({ rows: rows.slice(0, 2), next: 'r2' });
  });
  it('ends with null where nothing follows, also when it is full', () => {
    expect(cutPage(rows, 3, ({ id }) => id)).toEqual({ rows, next: null });
    expect(cutPage([], 3, String)).toEqual({ rows: [], next: null });
  });
  it('cannot be asked for without rows', () => {
    expect(() => cutPage(rows, 0, ({ id }) => id)).toThrow('at least one row');
  });
});
