/**
 * Keyset paging.
 *
 * A page starts after the sort keys of the last row of the previous page, not at an offset. So rows added between
 * two requests neither repeat nor skip others.
 */
import { assert } from './errors.ts';
import type { Instant } from './time.ts';

/** A place in a list that is ordered by an instant, then by id. */
export interface KeysetPosition {
  readonly at: Instant;
  readonly id: string;
}

export interface PageRequest<Position = KeysetPosition> {
  /** The end of the previous page; null for the first page. */
  readonly after: Position | null;
  /** Maximum rows of the page, at least 1. */
  readonly limit: number;
}

export interface Page<Row, Position = KeysetPosition> {
  readonly rows: readonly Row[];
  /** Where the next page starts; null at the end. */
  readonly next: Position | null;
}

/** Cuts a page from rows that were read with `limit + 1`: the surplus row only shows that there are more. */
export function cutPage<Row, Position>(
  rows: readonly Row[],
  limit: number,
  positionOf: (row: Row) => Position,
): Page<Row, Position> {
  assert(limit >= 1, 'a page holds at least one row');
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { rows: shown, next: rows.length > limit && last !== undefined ? positionOf(last) : null };
}

/** Maximum rows of a read after an empty one, and of all reads for one page. */
const ROWS_PER_READ = 200;
const ROWS_PER_PAGE_READ = 5_000;

/**
 * A page of a list whose rows are only filtered after they are read. Some clients treat an empty page as the end of a
 * list, so this reads on until there is a row, the list ends, or 5,000 rows have been read. Reads grow, because those
 * after an empty one tend to be empty too.
 *
 * `read` returns at most `limit` rows, and the position up to which it read; `positionOf` is that position for one row.
 */
export async function pageWithRows<Row, Position>(
  request: PageRequest<Position>,
  read: (request: PageRequest<Position>) => Promise<Page<Row, Position>>,
  positionOf: (row: Row) => Position,
): Promise<Page<Row, Position>> {
  let { after, limit } = request;
  let asked = 0;
  for (;;) {
    const { rows, next } = await read({ after, limit });
    asked += limit;
    if (rows.length > 0 || next === null || asked >= ROWS_PER_PAGE_READ) {
      const page = cutPage(rows, request.limit, positionOf);
      return { rows: page.rows, next: page.next ?? next };
    }
    after = next;
    limit = Math.max(request.limit, Math.min(limit * 2, ROWS_PER_READ));
  }
}
