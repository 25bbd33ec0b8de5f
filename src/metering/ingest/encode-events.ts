/**
 * Writes accepted events as `JSONCompactEachRow` rows of `usage_events`.
 *
 * Defines the order of the columns and the ingestion time: every row gets its own microsecond in `ingested_at`,
 * strictly increasing within a process, and a `version` that decreases accordingly. So the first of two copies of
 * an event wins, and the order of ingestion is unambiguous.
 *
 * The numbers come first and have a fixed width (leading zeros are fine with ClickHouse), because
 * digits that are put into the buffer directly cost a fraction of what printing them to strings does.
 */
import type { Instant } from '../../core/time.ts';
import type { ValidEvent } from './validate-events.ts';

export const USAGE_EVENTS_TABLE = 'usage_events';

export const USAGE_EVENTS_COLUMNS = [
  'timestamp',
  'ingested_at',
  'version',
  'id_hash_a',
  'id_hash_b',
  'id_hash_c',
  'transaction_id',
  'customer_ref',
  'event_type',
  'properties',
] as const;

const OPENING_BRACKET = 91;
const CLOSING_BRACKET = 93;
const COMMA = 44;
const NEWLINE = 10;
const ZERO = 48;

const TIME_DIGITS = 16;
const WORD_DIGITS = 10;
/** The size of a row without its texts: six numbers, as many separators, brackets and the newline. */
const FIXED_BYTES = 3 * TIME_DIGITS + 3 * WORD_DIGITS + 9;
/** UTF-8 needs at most three bytes for one UTF-16 code unit. */
const BYTES_PER_CODE_UNIT_MAX = 3;

/** `version` counts down from here: below 2^53, so that the subtraction is exact, and good until the year 2255. */
const VERSION_OF_EPOCH = 9_000_000_000_000_000;

/** Room that the row of an event needs at most. */
export function rowBytesMax(event: ValidEvent): number {
  return FIXED_BYTES + event.textsJson.length * BYTES_PER_CODE_UNIT_MAX;
}

export interface RowEncoder {
  /** Ensures that later ticks exceed this one, in microseconds since the epoch. */
  startAfter(microseconds: number): void;
  /**
   * Writes one row with its newline into `buffer` from `offset` on, which has `rowBytesMax` bytes of
   * room, and returns the offset of its end. `hash[at…]` are the words of the hash of the event's id.
   */
  encode(
    event: ValidEvent,
    hash: Uint32Array,
    at: number,
    now: Instant,
    buffer: Buffer,
    offset: number,
  ): number;
}

export function createRowEncoder(): RowEncoder {
  let tick = 0;
  return {
    startAfter(microseconds) {
      tick = Math.max(tick, microseconds);
    },
    encode(event, hash, at, now, buffer, offset) {
      tick = Math.max(tick + 1, now * 1000);
      // An unquoted number is the tick count of the column's type: milliseconds, then microseconds.
      let end = writeTime(buffer, offset, OPENING_BRACKET, event.timestamp);
      end = writeTime(buffer, end, COMMA, tick);
      end = writeTime(buffer, end, COMMA, VERSION_OF_EPOCH - tick);
      end = writeWord(buffer, end, hash[at] ?? 0);
      end = writeWord(buffer, end, hash[at + 1] ?? 0);
      end = writeWord(buffer, end, hash[at + 2] ?? 0);
      buffer[end] = COMMA;
      end += 1 + buffer.write(event.textsJson, end + 1, 'utf8');
      buffer[end] = CLOSING_BRACKET;
      buffer[end + 1] = NEWLINE;
      return end + 2;
    },
  };
}

/** `before` and a whole number below 1e16; returns the offset behind it. */
function writeTime(buffer: Buffer, offset: number, before: number, value: number): number {
  buffer[offset] = before;
  const high = Math.floor(value / 100_000_000);
  writeDigits(buffer, offset + 1, 8, high | 0);
  writeDigits(buffer, offset + 9, 8, (value - high * 100_000_000) | 0);
  return offset + 1 + TIME_DIGITS;
}

function writeWord(buffer: Buffer, offset: number, word: number): number {
  buffer[offset] = COMMA;
  const high = (word / 100_000) | 0;
  writeDigits(buffer, offset + 1, 5, high);
  writeDigits(buffer, offset + 6, 5, (word - high * 100_000) | 0);
  return offset + 1 + WORD_DIGITS;
}

/** `value` is an integer of 31 bits, so that the divisions are those of integers. */
function writeDigits(buffer: Buffer, offset: number, digits: number, value: number): void {
  let rest = value;
  for (let at = offset + digits - 1; at >= offset; at -= 1) {
    const quotient = (rest / 10) | 0;
    buffer[at] = ZERO + rest - quotient * 10;
    rest = quotient;
  }
}
