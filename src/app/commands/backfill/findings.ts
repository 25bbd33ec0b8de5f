/** Findings that a backfill says at its end: rows that it has taken and that are probably not meant so. */
import type { EventRows } from '../../../metering/ingest/event-rows.ts';

export interface Finding {
  readonly count: number;
  /** The first one, for people to look at. */
  readonly example: string | null;
}

export const NOTHING_FOUND: Finding = { count: 0, example: null };

export function together(a: Finding, b: Finding): Finding {
  return { count: a.count + b.count, example: a.example ?? b.example };
}

/** A decimal comma, with groups of thousands or without: `1.234,5`, `0,25`. */
const DECIMAL_COMMA = /^[+-]?(?:\d+|\d{1,3}(?:[.'\u2019 \u00a0\u202f]\d{3})+),\d+$/;
/** Groups of thousands before a decimal point: `1,234.5`, `1'234`. */
const GROUPS = /^[+-]?\d{1,3}(?:(?:,\d{3})+|(?:['\u2019]\d{3})+)(?:\.\d+)?$/;
const EXAMPLE_CHARACTERS_MAX = 60;
/** In UTF-8; one of them is in all of these numbers. The last one is the first byte of an apostrophe of print. */
const MARKS = [0x2c, 0x27, 0xe2];

/** Values that are numbers to people, and text to every metric. */
export function findUnreadNumbers(events: EventRows): Finding {
  let found = NOTHING_FOUND;
  for (const index of eventsWithMarks(events)) {
    for (const [name, text] of events.read(index).properties) {
      if (!DECIMAL_COMMA.test(text) && !GROUPS.test(text)) continue;
      const example = `"${text.slice(0, EXAMPLE_CHARACTERS_MAX)}" of ${name.slice(0, EXAMPLE_CHARACTERS_MAX)}`;
      found = together(found, { count: 1, example });
    }
  }
  return found;
}

/** Looked for in the bytes of all: most files have none, and to take every event apart costs as much as reading it. */
function eventsWithMarks(events: EventRows): ReadonlySet<number> {
  const bytes = events.bytes.subarray(0, events.length);
  const found = new Set<number>();
  for (const mark of MARKS) {
    let index = 0;
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, events.endOf(index))) {
      while (events.endOf(index) <= at) index += 1;
      found.add(index);
    }
  }
  return found;
}
