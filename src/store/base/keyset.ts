/**
 * Pages in the order (created_at, id): stable while rows are added, and as fast on the last page as on the first.
 * All lists use it.
 */
import { type AnyColumn, and, eq, gt, or, type SQL } from 'drizzle-orm';
import { cutPage, type KeysetPosition, type Page } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';

interface KeysetColumns {
  readonly createdAt: AnyColumn;
  readonly id: AnyColumn;
}

/** The rows after `after`, or all of them. */
export function behind(columns: KeysetColumns, after: KeysetPosition | null): SQL | undefined {
  if (after === null) return undefined;
  return or(gt(columns.createdAt, after.at), and(eq(columns.createdAt, after.at), gt(columns.id, after.id)));
}

/** Cuts a page out of `rows`, which were read with a limit of one more than the page size. */
export function keysetPage<Row extends { readonly id: string; readonly createdAt: Instant }>(
  rows: readonly Row[],
  limit: number,
): Page<Row> {
  return cutPage(rows, limit, ({ createdAt, id }) => ({ at: createdAt, id }));
}
