/**
 * Parses lines as events, by the rules of `POST /v1/ingest` without its limit to the past: each line is validated like
 * a request with one event.
 */
import { isUtf8 } from 'node:buffer';
import type { Instant } from '../../../core/time.ts';
import { EventRows } from '../../../metering/ingest/event-rows.ts';
import { validateEvents } from '../../../metering/ingest/validate-events.ts';
import { LINE_BYTES_MAX, type Line } from './rows/line.ts';

export interface InvalidLine {
  readonly line: Line;
  readonly reason: string;
}

export interface CheckedLines {
  readonly events: EventRows;
  readonly invalid: readonly InvalidLine[];
  /** The number of lines that the mapping excludes. */
  readonly leftOut: number;
}

/** Events may have any age: the window for which ids are kept in memory does not limit what is stored. */
const ANY_AGE = Number.POSITIVE_INFINITY;

const OPENING_BRACKET = Buffer.from('[');
const CLOSING_BRACKET = Buffer.from(']');
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Lines of only white space are neither events nor errors. `explain` rewords a reason for the file. */
export function checkLines(
  lines: readonly Line[],
  now: Instant,
  explain: (reason: string) => string = (reason) => reason,
): CheckedLines {
  const events = new EventRows(lines.length);
  const invalid: InvalidLine[] = [];
  const ofLine = new EventRows();
  let leftOut = 0;
  for (const line of lines) {
    if (line.isLeftOut === true) {
      leftOut += 1;
      continue;
    }
    const reason = checkLine(line, now, ofLine);
    if (reason !== null) invalid.push({ line, reason: explain(reason) });
    else if (ofLine.count > 0) events.addFrom(ofLine, 0);
  }
  return { events, invalid, leftOut };
}

/** Reads the event into `rows`, which stay empty for an empty line. Returns the problem of the line, or null. */
function checkLine(line: Line, now: Instant, rows: EventRows): string | null {
  rows.clear();
  if (line.problem !== undefined) return line.problem;
  if (line.bytes === null) return `is longer than ${LINE_BYTES_MAX} bytes`;
  const isMarked = line.number === 1 && line.bytes.subarray(0, 3).equals(BYTE_ORDER_MARK);
  const bytes = isMarked ? line.bytes.subarray(3) : line.bytes;
  if (bytes.length === 0 || (bytes.length < 100 && bytes.toString('latin1').trim() === '')) return null;
  const body = Buffer.concat([OPENING_BRACKET, bytes, CLOSING_BRACKET]);
  const validation = validateEvents(body, { now, windowDays: ANY_AGE }, rows);
  if ('rows' in validation) return rows.count === 1 ? null : 'must hold exactly one JSON object';
  const [error] = validation.errors;
  if (error !== undefined) return error.message;
  return isUtf8(bytes) ? 'is not valid JSON' : 'is not valid UTF-8';
}
