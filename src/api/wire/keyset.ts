/** The wire side of lists in the order (created_at, id): `limit` and `next_page` in, `{data, next_page}` out. */
import { z } from 'zod';
import { isUuid } from '../../core/ids.ts';
import { parseRfc3339 } from '../../core/time.ts';
import type { KeysetPosition, Page, PageRequest } from '../../store/keyset.ts';
import { limit } from './fields.ts';
import { cursor, encodeCursor } from './pagination.ts';

/** The range of timestamps that PostgreSQL and RFC 3339 both know. */
const EARLIEST = parseRfc3339('0001-01-01T00:00:00Z') ?? 0;
const LATEST = parseRfc3339('9999-12-31T23:59:59.999Z') ?? 0;

/** Where a page of such a list ended. */
export const keysetPosition = z.object({
  at: z.int().min(EARLIEST).max(LATEST),
  id: z.string().refine(isUuid),
});

/** The query parameters of every such list. */
export const keysetQuery = {
  limit: limit(1, 100, 100),
  next_page: cursor(keysetPosition).optional(),
};

export function pageRequest(query: {
  readonly limit: number;
  readonly next_page?: KeysetPosition | undefined;
}): PageRequest {
  return { limit: query.limit, after: query.next_page ?? null };
}

export function pageToWire<Row, Wire>(
  page: Page<Row>,
  toWire: (row: Row) => Wire,
): { data: Wire[]; next_page: string | null } {
  return {
    data: page.rows.map(toWire),
    next_page: page.next === null ? null : encodeCursor(page.next),
  };
}
