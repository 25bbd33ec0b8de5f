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
  /** Where the page before ended; null for the first page. */
  readonly after: Position | null;
  /** Most rows of the page, at least 1. */
  readonly limit: number;
}

export interface Page<Row, Position = KeysetPosition> {
  readonly rows: readonly Row[];
  /** Where the next page starts; null at the end. */
  readonly next: Position | null;
}

/** Makes a page of rows that were read with `limit + 1`: the surplus row only tells that there is more. */
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
