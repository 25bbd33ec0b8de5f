/**
 * A read-ahead cache of usage groups: every page of a long list aggregates all of the customer's events, so the second
 * page reads many more rows than it shows, and the pages after it are served from memory.
 *
 * All pages show the usage at the moment of the first one, so rows that were read for one page are valid for the next.
 * Another process, or one that has evicted them, reads them again.
 */
import { createCache } from '../../runtime/cache.ts';
import type { UsageGroupCursor } from '../query/group-cursor.ts';
import type { UsageGroupRow } from '../query/usage-groups.ts';

/** Rows that the second page reads, and each page after the end of the cached rows. */
const ROWS_AHEAD = 5_000;
/** Maximum bytes of an engine answer that is read ahead; with longer rows, fewer are read. */
export const BYTES_AHEAD_MAX = 2_000_000;
/** Time to live after the read, for all readers. */
const KEPT_MS = 60_000;
/** Maximum lists in the cache, the oldest is evicted; so all of them have at most 32 MB of text. */
const LISTS_MAX = 16;
/** The factor by which fewer rows are read ahead when they are too long. */
const SHRINK = 8;

/** Rows of a page, and whether there are more after them. */
export interface RowsOfPage {
  readonly rows: readonly UsageGroupRow[];
  readonly hasMore: boolean;
}

export interface RowsAhead {
  /** How many rows of a list are read ahead. */
  countOf(list: string): number;
  /** The rows of a list are too long to read that many. */
  readFewer(list: string): void;
  /** The first `limit` rows after the cursor; null if some are not cached. */
  behind(list: string, cursor: UsageGroupCursor, limit: number): RowsOfPage | null;
  /** Caches rows that follow a cursor. */
  keep(list: string, cursor: UsageGroupCursor, read: RowsOfPage): void;
  /** The page after `cursor` had this many rows, and the next one begins after `next`. */
  goOn(list: string, cursor: UsageGroupCursor, shown: number, next: UsageGroupCursor): void;
}

interface Stretch extends RowsOfPage {
  readonly list: string;
  /** The offset of the rows after a cursor. Each page that was shown adds one. */
  readonly places: Map<string, number>;
  readonly keptAtMs: number;
}

interface Options {
  readonly rowsAhead?: number;
  readonly monotonicMs?: () => number;
}

/** `list`: the full request. */
export function createRowsAhead({
  rowsAhead = ROWS_AHEAD,
  monotonicMs = () => performance.now(),
}: Options = {}): RowsAhead {
  let stretches: Stretch[] = [];
  const counts = createCache<string, number>({ name: 'long lists of groups', sizeMax: LISTS_MAX });

  /** Cached reads with a place for the cursor, the latest first. */
  function* placesIn(list: string, cursor: UsageGroupCursor): Generator<{ stretch: Stretch; from: number }> {
    const place = placeOf(cursor);
    for (const stretch of stretches.toReversed()) {
      const from = stretch.list === list ? stretch.places.get(place) : undefined;
      if (from !== undefined && monotonicMs() - stretch.keptAtMs <= KEPT_MS) yield { stretch, from };
    }
  }

  return {
    countOf: (list) => counts.get(list) ?? rowsAhead,
    readFewer(list) {
      counts.set(list, Math.floor((counts.get(list) ?? rowsAhead) / SHRINK));
    },
    behind(list, cursor, limit) {
      for (const { stretch, from } of placesIn(list, cursor)) {
        const end = from + limit;
        const hasMore = end < stretch.rows.length || stretch.hasMore;
        const isComplete = end <= stretch.rows.length || !stretch.hasMore;
        if (isComplete) return { rows: stretch.rows.slice(from, end), hasMore };
      }
      return null;
    },
    keep(list, cursor, { rows, hasMore }) {
      const now = monotonicMs();
      const places = new Map([[placeOf(cursor), 0]]);
      stretches = stretches.filter(({ keptAtMs }) => now - keptAtMs <= KEPT_MS).slice(1 - LISTS_MAX);
      stretches.push({ list, places, rows, hasMore, keptAtMs: now });
    },
    goOn(list, cursor, shown, next) {
      for (const { stretch, from } of placesIn(list, cursor)) {
        if (from + shown < stretch.rows.length) stretch.places.set(placeOf(next), from + shown);
      }
    },
  };
}

/** The cursor that a client sends back has its members in another order. */
function placeOf(cursor: UsageGroupCursor): string {
  const last = 'group' in cursor ? cursor.group : cursor.groupHash;
  return JSON.stringify([cursor.windowStart, last, cursor.ingestedUpTo]);
}
