/**
 * Reads lines as events, by the rules of `POST /v1/ingest` without its limit to the past: each line goes
 * through the same validator as a request of one event.
 */
import { isUtf8 } from 'node:buffer';
import type { Instant } from '../../../core/time.ts';
import { type ValidEvent, validateEvents } from '../../../metering/ingest/validate-events.ts';
import { LINE_BYTES_MAX, type Line } from './line-splitter.ts';

export interface InvalidLine {
  readonly line: Line;
  readonly reason: string;
}

export interface CheckedLines {
  readonly events: readonly ValidEvent[];
  readonly invalid: readonly InvalidLine[];
}

/** Events may have any age: the window for which ids are kept in memory does not limit what is stored. */
const ANY_AGE = Number.POSITIVE_INFINITY;

const OPENING_BRACKET = Buffer.from('[');
const CLOSING_BRACKET = Buffer.from(']');
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Lines without anything but white space are no events and no mistakes. */
export function checkLines(lines: readonly Line[], now: Instant): CheckedLines {
  const events: ValidEvent[] = [];
  const invalid: InvalidLine[] = [];
  for (const line of lines) {
    const outcome = checkLine(line, now);
    if (outcome === null) continue;
    if (typeof outcome === 'string') invalid.push({ line, reason: outcome });
    else events.push(outcome);
  }
  return { events, invalid };
}

/** The event, what is wrong with the line, or null where it is empty. */
function checkLine(line: Line, now: Instant): ValidEvent | string | null {
  if (line.bytes === null) return `is longer than ${LINE_BYTES_MAX} bytes`;
  const isMarked = line.number === 1 && line.bytes.subarray(0, 3).equals(BYTE_ORDER_MARK);
  const bytes = isMarked ? line.bytes.subarray(3) : line.bytes;
  if (bytes.length === 0 || (bytes.length < 100 && bytes.toString('latin1').trim() === '')) return null;
  const body = Buffer.concat([OPENING_BRACKET, bytes, CLOSING_BRACKET]);
  const validation = validateEvents(body, { now, windowDays: ANY_AGE });
  if ('events' in validation) {
    const [event, second] = validation.events;
    return event === undefined || second !== undefined ? 'must hold exactly one JSON object' : event;
  }
  const [error] = validation.errors;
  if (error !== undefined) return error.message;
  return isUtf8(bytes) ? 'is not valid JSON' : 'is not valid UTF-8';
}
