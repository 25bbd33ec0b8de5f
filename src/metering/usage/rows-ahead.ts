/**
 * Rows of usage groups that were read ahead: every page of a long list aggregates all of the customer's events, so the
 * second page reads many more rows than it shows, and the pages after it are found in memory.
 *
 * All pages show the usage of the moment of the first one, so that what was read for one page is right for the next.
 * Another process, or one that has forgotten them, reads them again.
 */
import { createCache } from '../../runtime/cache.ts';
import type { UsageGroupCursor } from '../query/group-cursor.ts';
import type { UsageGroupRow } from '../query/usage-groups.ts';

/** Rows that the second page reads, and each page after the last of them. */
const ROWS_AHEAD = 5_000;
/** Of an answer of the engine that is read ahead; where rows are longer, fewer are read. */
export const BYTES_AHEAD_MAX = 2_000_000;
/** From when they were read, whoever asks for them. */
const KEPT_MS = 60_000;
/** Lists that are read at once, the oldest is forgotten; so all of them have 32 MB of text at most. */
const LISTS_MAX = 16;
/** How much less of a list is read ahead when its rows are too long. */
const SHRINK = 8;

/** Rows of a page, and whether there are more after them. */
export interface RowsOfPage {
  readonly rows: readonly UsageGroupRow[];
  readonly hasMore: boolean;
}

export interface RowsAhead {
  /** How many rows of a list are read ahead. */
  countOf(list: string): number;
  /** The rows of a list are too long to read so many. */
  readFewer(list: string): void;
  /** The first `limit` rows after the cursor; null where they are not all here. */
  behind(list: string, cursor: UsageGroupCursor, limit: number): RowsOfPage | null;
  /** Keeps rows that lie after a cursor. */
  keep(list: string, cursor: UsageGroupCursor, read: RowsOfPage): void;
  /** The page after `cursor` had so many rows, and the next one begins after `next`. */
  goOn(list: string, cursor: UsageGroupCursor, shown: number, next: UsageGroupCursor): void;
}

interface Stretch extends RowsOfPage {
  readonly list: string;
  /** Where the rows after a cursor begin. Each page that was shown adds one. */
  readonly places: Map<string, number>;
  readonly keptAtMs: number;
}

interface Options {
  readonly rowsAhead?: number;
  readonly monotonicMs?: () => number;
}

/** `list`: what is asked for, in full. */
export function createRowsAhead({
  rowsAhead = ROWS_AHEAD,
  monotonicMs = () => performance.now(),
}: Options = {}): RowsAhead {
  let stretches: Stretch[] = [];
  const counts = createCache<string, number>({ sizeMax: LISTS_MAX });

  /** Those that have a place for the cursor, the last read one first. */
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
