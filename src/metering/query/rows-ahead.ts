/**
 * Rows of usage groups that were read ahead: every page of a long list aggregates all of the customer's events, so the
 * second page reads many more rows than it shows, and the pages after it are found in memory.
 *
 * All pages show the usage of the moment of the first one, so that what was read for one page is right for the next.
 * Kept for a moment, by the cursor of the page that begins there; another process, or one that has forgotten them, reads
 * them again.
 */
import type { UsageGroupCursor } from './group-cursor.ts';

/** Rows that the second page reads, and each page after the last of them. */
export const ROWS_AHEAD = 5_000;
/** Of a client that reads page after page. */
const KEPT_MS = 30_000;
/** Lists that are read at once; the oldest is forgotten. */
const LISTS_MAX = 16;
/** Of the rows of one list as text; longer ones are read page by page. */
const CHARACTERS_MAX = 4_000_000;

interface Stretch<Row> {
  readonly rows: readonly Row[];
  /** The place of the first row of the page. */
  readonly from: number;
  readonly keptAtMs: number;
}

export interface RowsAhead<Row> {
  /** Up to `limit` rows after the cursor; null where they are not all here. */
  behind(list: string, cursor: UsageGroupCursor, limit: number): readonly Row[] | null;
  /** Keeps rows that lie after a cursor. */
  keep(list: string, cursor: UsageGroupCursor, rows: readonly Row[]): void;
  /** The page that began at `cursor` had so many rows, and the next one begins at `next`. */
  goOn(list: string, cursor: UsageGroupCursor, shown: number, next: UsageGroupCursor): void;
}

/** `list`: what is asked for, in full. */
export function createRowsAhead<Row>(monotonicMs: () => number = () => performance.now()): RowsAhead<Row> {
  const stretches = new Map<string, Stretch<Row>>();
  const nameOf = (list: string, cursor: UsageGroupCursor) => `${JSON.stringify(cursor)} ${list}`;

  function set(name: string, stretch: Stretch<Row>): void {
    stretches.delete(name);
    for (const [other, { keptAtMs }] of stretches) {
      if (monotonicMs() - keptAtMs > KEPT_MS || stretches.size >= LISTS_MAX) stretches.delete(other);
    }
    stretches.set(name, stretch);
  }

  function get(name: string): Stretch<Row> | undefined {
    const known = stretches.get(name);
    return known !== undefined && monotonicMs() - known.keptAtMs <= KEPT_MS ? known : undefined;
  }

  return {
    behind(list, cursor, limit) {
      const known = get(nameOf(list, cursor));
      if (known === undefined || known.from + limit > known.rows.length) return null;
      return known.rows.slice(known.from, known.from + limit);
    },
    keep(list, cursor, rows) {
      if (JSON.stringify(rows).length > CHARACTERS_MAX) return;
      set(nameOf(list, cursor), { rows, from: 0, keptAtMs: monotonicMs() });
    },
    goOn(list, cursor, shown, next) {
      const known = get(nameOf(list, cursor));
      if (known === undefined) return;
      stretches.delete(nameOf(list, cursor));
      set(nameOf(list, next), { ...known, from: known.from + shown, keptAtMs: monotonicMs() });
    },
  };
}
