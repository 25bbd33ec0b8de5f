import { describe, expect, it } from 'vitest';
import { decimal } from '../../../../src/core/decimal.ts';
import { type UsageGroupCursor, usageGroupCursor } from '../../../../src/metering/query/group-cursor.ts';
import type { UsageGroupRow } from '../../../../src/metering/query/usage-groups.ts';
import { createRowsAhead } from '../../../../src/metering/usage/rows-ahead.ts';

const cursorAt = (value: string): UsageGroupCursor => ({ windowStart: 0, group: [value], ingestedUpTo: '1' });
const rows = Array.from(
  { length: 25 },
  (_, index): UsageGroupRow => ({
    startingOn: 0,
    endingBefore: 1,
    group: { user: `user ${index}` },
    value: decimal(String(index)),
  }),
);
const read = { rows, hasMore: true };

describe('rows that were read ahead', () => {
  it('rows read ahead are the next page, and continue from page to page', () => {
    const ahead = createRowsAhead();
    ahead.keep('list', cursorAt('a'), read);
    expect(ahead.behind('list', cursorAt('a'), 10)).toEqual({ rows: rows.slice(0, 10), hasMore: true });
    ahead.goOn('list', cursorAt('a'), 10, cursorAt('b'));
    expect(ahead.behind('list', cursorAt('b'), 10)).toEqual({ rows: rows.slice(10, 20), hasMore: true });
    ahead.goOn('list', cursorAt('b'), 10, cursorAt('c'));
    // There are more than were read.
    expect(ahead.behind('list', cursorAt('c'), 10)).toBe(null);
    // A page that is asked for again is still there.
    expect(ahead.behind('list', cursorAt('b'), 10)?.rows).toEqual(rows.slice(10, 20));
  });

  it('the last page of a list is found among the rows that end it', () => {
    const ahead = createRowsAhead();
    ahead.keep('list', cursorAt('a'), { rows, hasMore: false });
    ahead.goOn('list', cursorAt('a'), 20, cursorAt('b'));
    expect(ahead.behind('list', cursorAt('b'), 10)).toEqual({ rows: rows.slice(20), hasMore: false });
    expect(ahead.behind('list', cursorAt('b'), 5)).toEqual({ rows: rows.slice(20), hasMore: false });
    expect(ahead.behind('list', cursorAt('b'), 4)?.hasMore).toBe(true);
  });

  it('rows that were read ahead are found by the cursor that a client sends back', () => {
    const ahead = createRowsAhead();
    const { windowStart, ...rest } = cursorAt('a');
    const sent: UsageGroupCursor = { ...rest, windowStart };
    ahead.keep('list', sent, read);
    const sentBack = usageGroupCursor.parse(JSON.parse(JSON.stringify(sent)));
    expect(ahead.behind('list', sentBack, 5)).not.toBe(null);
    const hashed = { windowStart: 0, ingestedUpTo: '1', groupHash: 'A'.repeat(64) };
    ahead.goOn('list', sentBack, 5, hashed);
    expect(ahead.behind('list', usageGroupCursor.parse(hashed), 5)?.rows).toEqual(rows.slice(5, 10));
  });

  it('rows that were read ahead are those of the same list and the same place only', () => {
    const ahead = createRowsAhead();
    ahead.keep('list', cursorAt('a'), read);
    expect(ahead.behind('another list', cursorAt('a'), 5)).toBe(null);
    expect(ahead.behind('list', cursorAt('b'), 5)).toBe(null);
    expect(ahead.behind('list', { ...cursorAt('a'), ingestedUpTo: '2' }, 5)).toBe(null);
  });

  it('rows that were read ahead are forgotten a minute after they were read, also while pages are asked for', () => {
    let now = 0;
    const ahead = createRowsAhead({ monotonicMs: () => now });
    ahead.keep('list', cursorAt('a'), read);
    now = 60_000;
    expect(ahead.behind('list', cursorAt('a'), 5)).not.toBe(null);
    ahead.goOn('list', cursorAt('a'), 5, cursorAt('b'));
    now = 60_001;
    expect(ahead.behind('list', cursorAt('a'), 5)).toBe(null);
    expect(ahead.behind('list', cursorAt('b'), 5)).toBe(null);
  });

  it('rows that were read ahead are of a limited number of lists, and fewer where they are long', () => {
    const ahead = createRowsAhead();
    for (let list = 0; list < 40; list += 1) ahead.keep(`list ${list}`, cursorAt('a'), read);
    const kept = Array.from({ length: 40 }, (_, list) => ahead.behind(`list ${list}`, cursorAt('a'), 5));
    expect(kept.filter((each) => each !== null)).toHaveLength(16);
    expect(kept.at(-1)).not.toBe(null);
    ahead.readFewer('list');
    expect([ahead.countOf('list'), ahead.countOf('another')]).toEqual([625, 5_000]);
    ahead.readFewer('list');
    expect(ahead.countOf('list')).toBe(78);
  });
});
