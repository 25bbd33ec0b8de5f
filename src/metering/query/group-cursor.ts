/**
 * The cursor of a page of grouped usage, an opaque text for clients.
 *
 * Pages are found by key, not by offset: a page begins after the last row of the previous one, so events that arrive
 * between two pages neither repeat nor skip a row. `ingestedUpTo` fixes the events of the first page, so all pages show
 * the usage of one moment and their values add up.
 *
 * Group values can be long, and the cursor is part of a URL. For long ones it contains their SHA-256 instead; the next
 * page first finds the row with that hash in its window, and then continues after the row's own values, so the order of
 * the rows is the same in either form.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { invalid } from '../../core/errors.ts';
import type { Instant } from '../../core/time.ts';

const position = {
  /** Start of the last row's window, before it was cut to the range. Epoch milliseconds. */
  windowStart: z.int(),
  /** Events ingested later are left out. Epoch microseconds. */
  ingestedUpTo: z.string().regex(/^\d{1,18}$/),
};

export const usageGroupCursor = z.union([
  /** The last row's group values, in the order of the sorted property names. */
  z.strictObject({ ...position, group: z.array(z.string().nullable()) }),
  /** The hash of the values, `groupHash`. */
  z.strictObject({ ...position, groupHash: z.string().regex(/^[0-9A-F]{64}$/) }),
]);

export type UsageGroupCursor = z.infer<typeof usageGroupCursor>;

/** A row of usage groups: its window, and its group values in the order of the sorted names. */
export interface GroupRowKey {
  readonly windowStart: Instant;
  readonly group: readonly (string | null)[];
}

/** A row whose group values are known only by their hash. */
export interface HashedRowKey {
  readonly windowStart: Instant;
  readonly groupHash: string;
}

/** Maximum bytes of the values as JSON in the cursor, which is then below 600 characters. */
const GROUP_BYTES_MAX = 300;

/** The cursor of the page after this row. */
export function cursorAfter({ windowStart, group }: GroupRowKey, ingestedUpTo: string): UsageGroupCursor {
  return Buffer.byteLength(JSON.stringify(group)) <= GROUP_BYTES_MAX
    ? { windowStart, group: [...group], ingestedUpTo }
    : { windowStart, groupHash: groupHash(group), ingestedUpTo };
}

/** Whether the cursor matches a request with this many group properties. */
export function hasGroups(cursor: UsageGroupCursor, count: number): boolean {
  return 'group' in cursor ? cursor.group.length === count : count > 0;
}

/**
 * The last row of the previous page. `find` looks up the group values with a hash in the window, among the events of
 * the first page. Throws an `invalid` refusal if the row no longer exists, because copies of its events were removed or
 * the customer's aliases changed: continuing elsewhere could repeat rows.
 */
export async function lastRowOf(
  cursor: UsageGroupCursor,
  find: (row: HashedRowKey) => Promise<readonly (string | null)[] | undefined>,
): Promise<GroupRowKey> {
  if ('group' in cursor) return cursor;
  const group = await find(cursor);
  if (group === undefined) {
    throw invalid(['cursor'], 'the last row of that page is gone; begin again with the first page');
  }
  return { windowStart: cursor.windowStart, group };
}

/**
 * Equals `groupHashSql`: each value is preceded by its length in bytes, so that different lists have different texts.
 */
function groupHash(group: readonly (string | null)[]): string {
  const parts = group.map((value) => (value === null ? '-' : `${Buffer.byteLength(value)}:${value}`));
  return createHash('sha256').update(parts.join('')).digest('hex').toUpperCase();
}
