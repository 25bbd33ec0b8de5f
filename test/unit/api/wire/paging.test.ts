import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { cursor, pageQuery, pageRequest, pageToWire } from '../../../../src/api/wire/paging.ts';

const position = z.object({ at: z.number(), id: z.string() });

function handedOut(next: unknown): string {
  const text = pageToWire({ rows: [], next }, String).next_page;
  if (text === null) throw new Error('there is no cursor');
  return text;
}

describe('the answer of a paged list', () => {
  it('the answer of a paged list has the rows, and a cursor that asks for the rows after them', () => {
    const answer = pageToWire({ rows: [1, 2], next: { at: 2, id: 'r2' } }, (row) => `row ${row}`);
    expect(answer.data).toEqual(['row 1', 'row 2']);
    const query = pageQuery(position, 10).parse({ next_page: answer.next_page });
    expect(pageRequest(query)).toEqual({ after: { at: 2, id: 'r2' }, limit: 10 });
  });
  it('the answer of a paged list has no cursor at the end', () => {
    expect(pageToWire({ rows: [], next: null }, String)).toEqual({ data: [], next_page: null });
  });
});

describe('a query of a paged list', () => {
  it('a query of a paged list without parameters asks for the first page', () => {
    expect(pageRequest(pageQuery(position).parse({}))).toEqual({ after: null, limit: 100 });
  });
  it.each(['0', '101', '1.5', ''])('a query of a paged list is refused with a limit of %j', (limit) => {
    expect(pageQuery(position).safeParse({ limit }).success).toBe(false);
  });
});

describe('cursor', () => {
  it.each([
    ['not base64url', '%%%'],
    ['not JSON', Buffer.from('nope').toString('base64url')],
    ['of another list', handedOut({ name: 'x' })],
    ['cut off', handedOut({ at: 1, id: 'abcdef' }).slice(0, 8)],
    ['far too long', Buffer.from(JSON.stringify({ at: 1, id: 'x'.repeat(7_000) })).toString('base64url')],
  ])('cursor is refused when %s', (_what, text) => {
    const parsed = cursor(position).safeParse(text);
    expect(parsed.error?.issues[0]?.message).toBe('must be the next_page of an earlier answer of this list');
  });
  it('cursor is never handed out where it would be refused', () => {
    const longest = { at: 1, id: 'x'.repeat(5_984) };
    expect(cursor(position).parse(handedOut(longest))).toEqual(longest);
    expect(() => handedOut({ at: 1, id: 'x'.repeat(5_985) })).toThrow(
      'the members of a position are bounded',
    );
  });
  it('cursor is safe in a URL as it is', () => {
    expect(handedOut({ at: 1, id: '???>>>é' })).toMatch(/^[\w-]+$/);
  });
});
