/** Findings reported at the end of a backfill: accepted rows that are probably wrong. */
import type { EventRows } from '../../../metering/ingest/event-rows.ts';

export interface Finding {
  readonly count: number;
  /** The first one, as an example. */
  readonly example: string | null;
}

export const NOTHING_FOUND: Finding = { count: 0, example: null };

export function together(a: Finding, b: Finding): Finding {
  return { count: a.count + b.count, example: a.example ?? b.example };
}

/** A decimal comma, with or without thousands separators: `1.234,5`, `0,25`. */
const DECIMAL_COMMA = /^[+-]?(?:\d+|\d{1,3}(?:[.'\u2019 \u00a0\u202f]\d{3})+),\d+$/;
/** Thousands separators before a decimal point: `1,234.5`, `1'234`. */
const GROUPS = /^[+-]?\d{1,3}(?:(?:,\d{3})+|(?:['\u2019]\d{3})+)(?:\.\d+)?$/;
const EXAMPLE_CHARACTERS_MAX = 60;
/** UTF-8 bytes, one of which is in all of these numbers. The last one is the first byte of a typographic apostrophe. */
const MARKS = [0x2c, 0x27, 0xe2];

/** Values that people read as numbers, and every metric as text. */
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

/** Searched in the raw bytes: most files have none, and decoding every event costs as much as reading it. */
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
