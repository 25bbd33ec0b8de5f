import { describe, expect, it } from 'vitest';
import type { UsageGroupCursor } from '../../../../src/metering/query/group-cursor.ts';
import { createRowsAhead } from '../../../../src/metering/query/rows-ahead.ts';

const cursorAt = (value: string): UsageGroupCursor => ({ windowStart: 0, group: [value], ingestedUpTo: '1' });
const rows = Array.from({ length: 25 }, (_, index) => `row ${index}`);

describe('rows that were read ahead', () => {
  it('rows read ahead are the next page, and continue from page to page', () => {
    const ahead = createRowsAhead<string>();
    ahead.keep('list', cursorAt('a'), rows);
    expect(ahead.behind('list', cursorAt('a'), 11)).toEqual(rows.slice(0, 11));
    ahead.goOn('list', cursorAt('a'), 10, cursorAt('b'));
    expect(ahead.behind('list', cursorAt('b'), 11)).toEqual(rows.slice(10, 21));
    ahead.goOn('list', cursorAt('b'), 10, cursorAt('c'));
    // There may be more than was read.
    expect(ahead.behind('list', cursorAt('c'), 11)).toBe(null);
  });

  it('rows that were read ahead are those of the same list and the same place only', () => {
    const ahead = createRowsAhead<string>();
    ahead.keep('list', cursorAt('a'), rows);
    expect(ahead.behind('another list', cursorAt('a'), 5)).toBe(null);
    expect(ahead.behind('list', cursorAt('b'), 5)).toBe(null);
    expect(ahead.behind('list', { ...cursorAt('a'), ingestedUpTo: '2' }, 5)).toBe(null);
  });

  it('rows that were read ahead are forgotten after half a minute', () => {
    let now = 0;
    const ahead = createRowsAhead<string>(() => now);
    ahead.keep('list', cursorAt('a'), rows);
    now = 30_000;
    expect(ahead.behind('list', cursorAt('a'), 5)).not.toBe(null);
    now = 30_001;
    expect(ahead.behind('list', cursorAt('a'), 5)).toBe(null);
  });

  it('rows that were read ahead are of a limited number of lists, and of a limited size', () => {
    const ahead = createRowsAhead<string>();
    for (let list = 0; list < 40; list += 1) ahead.keep(`list ${list}`, cursorAt('a'), rows);
    const kept = Array.from({ length: 40 }, (_, list) => ahead.behind(`list ${list}`, cursorAt('a'), 5));
    expect(kept.filter((each) => each !== null).length).toBeLessThanOrEqual(16);
    expect(kept.at(-1)).not.toBe(null);
    ahead.keep('long', cursorAt('a'), ['x'.repeat(5_000_000)]);
    expect(ahead.behind('long', cursorAt('a'), 1)).toBe(null);
  });
});
