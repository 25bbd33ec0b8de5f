/**
 * Encodes accepted events as RowBinary rows of `usage_events`.
 *
 * Owns the order of the columns and the ingestion time: every row gets its own microsecond in `ingested_at`, strictly
 * increasing within a process, and a `version` that decreases accordingly. So the first of two copies of an event wins,
 * and the order of ingestion is unambiguous.
 */
import type { Instant } from '../../core/time.ts';
import type { EventRows } from './event-rows.ts';
import { RowReader } from './row-binary.ts';
import { HASH_WORDS } from './transaction-hash.ts';

export const USAGE_EVENTS_TABLE = 'usage_events';

/** The columns of a row and their types. */
const COLUMNS = {
  timestamp: "DateTime64(3, 'UTC')",
  ingested_at: "DateTime64(6, 'UTC')",
  version: 'UInt64',
  id_hash_a: 'UInt32',
  id_hash_b: 'UInt32',
  id_hash_c: 'UInt32',
  transaction_id: 'String',
  customer_ref: 'String',
  event_type: 'String',
  properties: 'Map(String, String)',
} as const;

/** The target of encoded rows. */
export const USAGE_EVENTS_INSERT = {
  table: USAGE_EVENTS_TABLE,
  columns: Object.keys(COLUMNS),
  types: Object.values(COLUMNS),
} as const;

const TICK_AT = 8;
const VERSION_AT = 16;
const HASH_AT = 24;
/** The size of a row without its texts. */
const FIXED_BYTES = HASH_AT + 4 * HASH_WORDS;

/**
 * `version` counts down from here: below 2^53, so that the subtraction is exact, and sufficient until the year 2255.
 */
const VERSION_OF_EPOCH = 9_000_000_000_000_000;
const WORD = 0x1_0000_0000;

/** The bytes to reserve for the row of this event. */
export function rowBytes(rows: EventRows, index: number): number {
  return FIXED_BYTES + rows.endOf(index) - rows.startOf(index);
}

export interface RowEncoder {
  /** Ensures that later ticks exceed this one, in microseconds since the epoch. */
  startAfter(microseconds: number): void;
  /** Returns an unused tick, at `now` or later: rows encoded before have an earlier one, later rows a later one. */
  pass(now: Instant): number;
  /** The last used tick: later rows have a later one. */
  last(): number;
  /** Writes one row into `buffer` from `offset` on, which has `rowBytes` of room, and returns the offset of its end. */
  encode(rows: EventRows, index: number, now: Instant, buffer: Buffer, offset: number): number;
}

export function createRowEncoder(): RowEncoder {
  let tick = 0;
  const next = (now: Instant) => {
    tick = Math.max(tick + 1, now * 1000);
    return tick;
  };
  return {
    startAfter(microseconds) {
      tick = Math.max(tick, microseconds);
    },
    pass: next,
    last: () => tick,
    encode(rows, index, now, buffer, offset) {
      const own = next(now);
      writeWhole(buffer, offset, rows.timestamps[index] ?? 0);
      writeWhole(buffer, offset + TICK_AT, own);
      writeWhole(buffer, offset + VERSION_AT, VERSION_OF_EPOCH - own);
      for (let word = 0; word < HASH_WORDS; word += 1) {
        writeWord(buffer, offset + HASH_AT + 4 * word, rows.hashes[index * HASH_WORDS + word] ?? 0);
      }
      const start = rows.startOf(index);
      const end = rows.endOf(index);
      rows.bytes.copy(buffer, offset + FIXED_BYTES, start, end);
      return offset + FIXED_BYTES + end - start;
    },
  };
}

/** A whole number from 0 up to 2^53 as 64 bits. */
function writeWhole(buffer: Buffer, offset: number, value: number): void {
  writeWord(buffer, offset, value % WORD);
  writeWord(buffer, offset + 4, Math.floor(value / WORD));
}

function writeWord(buffer: Buffer, offset: number, word: number): void {
  const bits = word | 0;
  buffer[offset] = bits;
  buffer[offset + 1] = bits >>> 8;
  buffer[offset + 2] = bits >>> 16;
  buffer[offset + 3] = bits >>> 24;
}

/** Called with the start and end of a row, and of its customer's bytes. */
export type RowVisitor = (start: number, end: number, customerStart: number, customerEnd: number) => void;

/** Visits whole encoded rows in order. */
export function eachRow(bytes: Buffer, visit: RowVisitor): void {
  const reader = new RowReader(bytes);
  while (!reader.isAtEnd) {
    const start = reader.offset;
    reader.offset += FIXED_BYTES;
    reader.skipText();
    const customerBytes = reader.length();
    const customerStart = reader.offset;
    reader.offset += customerBytes;
    reader.skipText();
    for (let left = 2 * reader.length(); left > 0; left -= 1) reader.skipText();
    visit(start, reader.offset, customerStart, customerStart + customerBytes);
  }
}

/** The number of rows in these bytes; null if they are not whole rows. */
export function countRows(bytes: Buffer): number | null {
  let count = 0;
  let last = 0;
  try {
    eachRow(bytes, (_, end) => {
      count += 1;
      last = end;
    });
  } catch {
    return null;
  }
  return last === bytes.length ? count : null;
}

/** The ingestion time of the row that begins here, in microseconds since the epoch. */
export function tickAt(bytes: Buffer, start: number): number {
  return bytes.readUInt32LE(start + TICK_AT) + bytes.readUInt32LE(start + TICK_AT + 4) * WORD;
}
