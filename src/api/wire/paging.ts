/**
 * Paged lists: `limit` and `next_page` in, `{data, next_page}` out, with an opaque cursor.
 *
 * A cursor is base64url JSON of the position at which a page ended (`core/paging.ts`).
 */
import { z } from 'zod';
import { assert } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { resultInChunks } from '../../core/in-chunks.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import { parseRfc3339 } from '../../core/time.ts';
import { limit } from './fields.ts';

/** A cursor has to fit into a URL. The service never issues a longer one. */
const CURSOR_LENGTH_MAX = 8_000;

/** The range of timestamps that both PostgreSQL and RFC 3339 support. */
const EARLIEST = parseRfc3339('0001-01-01T00:00:00Z') ?? 0;
const LATEST = parseRfc3339('9999-12-31T23:59:59.999Z') ?? 0;

/** The position in a list that is ordered by an instant, then by id. */
export const keysetPosition = z.object({
  at: z.int().min(EARLIEST).max(LATEST),
  id: z.string().refine(isUuid),
});

/** The `next_page` parameter, parsed to a position. Refuses a malformed one, or one of another list, with 400. */
export function cursor<Position extends z.ZodType>(position: Position) {
  return z
    .string({ error: (issue) => (Array.isArray(issue.input) ? 'must be given once' : undefined) })
    .transform((text, context): z.output<Position> => {
      const decoded = position.safeParse(decode(text));
      if (decoded.success) return decoded.data;
      context.addIssue('must be the next_page of an earlier answer of this list');
      return z.NEVER;
    })
    .meta({ type: 'string', description: 'The `next_page` of the previous answer.' });
}

/** Most rows of one page. */
const LIMIT_MAX = 100;

/** The query parameters of a paged list: `limit` and `next_page`. */
export function pageQuery<Position extends z.ZodType>(
  position: Position,
  limitDefault = LIMIT_MAX,
  limitMax = LIMIT_MAX,
) {
  return z.object({
    limit: limit(1, limitMax, limitDefault),
    next_page: cursor(position).optional(),
  });
}

/** The page request of a validated query. */
export function pageRequest<Position>(query: {
  readonly limit: number;
  readonly next_page?: Position | null | undefined;
}): PageRequest<Position> {
  return { after: query.next_page ?? null, limit: query.limit };
}

/** The schema of a paged answer. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    next_page: z.string().nullable().meta({ description: 'Cursor of the next page; null at the end.' }),
  });
}

export function pageToWire<Row, Wire>(
  page: Page<Row, unknown>,
  toWire: (row: Row) => Wire,
): { data: Wire[]; next_page: string | null } {
  return {
    data: page.rows.map((row) => toWire(row)),
    next_page: page.next === null ? null : encode(page.next),
  };
}

/** `pageToWire` for rows that have long lists, in parts between which other requests are answered. */
export async function pageToWireInParts<Row, Wire>(
  page: Page<Row, unknown>,
  toWire: (row: Row) => Generator<void, Wire, undefined>,
): Promise<{ data: Wire[]; next_page: string | null }> {
  const data = await resultInChunks(wireRows(page.rows, toWire));
  return { data, next_page: page.next === null ? null : encode(page.next) };
}

function* wireRows<Row, Wire>(
  rows: readonly Row[],
  toWire: (row: Row) => Generator<void, Wire, undefined>,
): Generator<void, Wire[], undefined> {
  const data: Wire[] = [];
  for (const row of rows) data.push(yield* toWire(row));
  return data;
}

function encode(position: unknown): string {
  const text = Buffer.from(JSON.stringify(position), 'utf8').toString('base64url');
  // A cursor above the limit would be refused on the next request, and the rest of the list unreachable.
  assert(text.length <= CURSOR_LENGTH_MAX, 'the members of a position are bounded');
  return text;
}

function decode(text: string): unknown {
  if (text.length > CURSOR_LENGTH_MAX || !/^[\w-]+$/.test(text)) return undefined;
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
