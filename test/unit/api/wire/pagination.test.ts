import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { cursor, encodeCursor, page } from '../../../../src/api/wire/pagination.ts';

const position = z.object({ at: z.number(), id: z.string() });

describe('page', () => {
  const rows = [1, 2, 3].map((at) => ({ at, id: `r${at}` }));

  it('ends with a cursor of its last row where more rows follow', () => {
    const first = page(rows, 2, (row) => row);
    expect(first.data).toEqual(rows.slice(0, 2));
    expect(cursor(position).parse(first.next_page)).toEqual({ at: 2, id: 'r2' });
  });
  it('ends with null where nothing follows, also when it is full', () => {
    expect(page(rows, 3, (row) => row)).toEqual({ data: rows, next_page: null });
    expect(page([], 3, (row) => row)).toEqual({ data: [], next_page: null });
  });
});

describe('cursor', () => {
  it.each([
    ['not base64url', '%%%'],
    ['not JSON', Buffer.from('nope').toString('base64url')],
    ['of another list', encodeCursor({ name: 'x' })],
    ['cut off', encodeCursor({ at: 1, id: 'abcdef' }).slice(0, 8)],
    ['far too long', Buffer.from(JSON.stringify({ at: 1, id: 'x'.repeat(5_000) })).toString('base64url')],
  ])('is refused when %s', (_what, text) => {
    const parsed = cursor(position).safeParse(text);
    expect(parsed.error?.issues[0]?.message).toBe('must be the next_page of an earlier answer of this list');
  });
  it('is never handed out where it would be refused', () => {
    const longest = { at: 1, id: 'x'.repeat(1_484) };
    expect(cursor(position).parse(encodeCursor(longest))).toEqual(longest);
    expect(() => encodeCursor({ at: 1, id: 'x'.repeat(1_485) })).toThrow(
      'the members of a cursor are bounded',
    );
  });
  it('is safe in a URL as it is', () => {
    expect(encodeCursor({ at: 1, id: '???>>>é' })).toMatch(/^[\w-]+$/);
  });
});
