/**
 * Pages in the order (created_at, id): stable while rows are added, and as quick on the last page as on
 * the first. Lists of every aggregate go through here, so that they cannot differ.
 */
import { type AnyColumn, and, eq, gt, or, type SQL } from 'drizzle-orm';
import type { Instant } from '../core/time.ts';

/** The last row of the page before. */
export interface KeysetPosition {
  readonly at: Instant;
  readonly id: string;
}

export interface PageRequest {
  readonly after: KeysetPosition | null;
  readonly limit: number;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Where the next page goes on; null at the end. */
  readonly next: KeysetPosition | null;
}

interface KeysetColumns {
  readonly createdAt: AnyColumn;
  readonly id: AnyColumn;
}

/** The rows behind `after`, or all of them. */
export function behind(columns: KeysetColumns, after: KeysetPosition | null): SQL | undefined {
  if (after === null) return undefined;
  return or(gt(columns.createdAt, after.at), and(eq(columns.createdAt, after.at), gt(columns.id, after.id)));
}

/** Cuts a page out of `rows`, which were read with a limit of one more than the page holds. */
export function cutPage<Row extends { readonly id: string; readonly createdAt: Instant }>(
  rows: readonly Row[],
  limit: number,
): Page<Row> {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { rows: page, next: more ? { at: last.createdAt, id: last.id } : null };
}
