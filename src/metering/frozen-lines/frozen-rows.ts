/** The rows of `invoice_hourly_lines` in RowBinary: one row for each line, with all of its hours. */
import type { Decimal } from '../../core/decimal.ts';
import type { LineWindow } from '../../core/invoice.ts';
import { SECOND_MS } from '../../core/time.ts';
import { withRoom } from '../ingest/growing-buffer.ts';
import { lengthBytes, writeLength } from '../ingest/row-binary.ts';

const COLUMNS = {
  breakdown_id: 'UUID',
  line_index: 'UInt32',
  first_hour: "DateTime('UTC')",
  hours: "Array(DateTime('UTC'))",
  quantities: 'Array(String)',
  amounts: 'Array(String)',
} as const;

/** The target of the rows. */
export const FROZEN_LINES_INSERT = {
  table: 'invoice_hourly_lines',
  columns: Object.keys(COLUMNS),
  types: Object.values(COLUMNS),
} as const;

/** One line in one hour. */
type FrozenHour = Omit<LineWindow, 'position'>;

/** The hours in which a line changed, ascending; every window is one hour of the UTC grid. */
export interface FrozenLine {
  /** The position of the line on its invoice. */
  readonly position: number;
  readonly hours: readonly FrozenHour[];
}

const UUID_BYTES = 16;
const WORD_BYTES = 4;
/** The maximum length that is encoded in one byte. */
const SHORT_LENGTH_MAX = 127;

/** Consecutive rows. */
export class FrozenRows {
  #bytes: Buffer = Buffer.alloc(0);
  #used = 0;

  /** The bytes of all rows. */
  get byteLength(): number {
    return this.#used;
  }

  /** Valid until a row is added or all are removed. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#used);
  }

  /** Keeps the buffer for later rows. */
  clear(): void {
    this.#used = 0;
  }

  /** A line without hours has no row. */
  add(breakdownId: string, { position, hours }: FrozenLine): void {
    const [first] = hours;
    if (first === undefined) return;
    this.#bytes = withRoom(this.#bytes, this.#used, this.#used + rowBytesMax(hours));
    this.#used = writeUuid(this.#bytes, this.#used, breakdownId);
    this.#word(position);
    this.#word(first.window.start / SECOND_MS);
    this.#length(hours.length);
    for (const { window } of hours) this.#word(window.start / SECOND_MS);
    this.#length(hours.length);
    for (const { quantity } of hours) this.#number(quantity);
    this.#length(hours.length);
    for (const { total } of hours) this.#number(total);
  }

  #word(word: number): void {
    const bytes = this.#bytes;
    const at = this.#used;
    bytes[at] = word;
    bytes[at + 1] = word >>> 8;
    bytes[at + 2] = word >>> 16;
    bytes[at + 3] = word >>> 24;
    this.#used = at + WORD_BYTES;
  }

  #length(length: number): void {
    this.#used = writeLength(this.#bytes, this.#used, length);
  }

  /** Its length is known only after it is written, and nearly always takes one byte. */
  #number(value: Decimal): void {
    const start = this.#used + 1;
    const end = value.writeTo(this.#bytes, start);
    const length = end - start;
    if (length <= SHORT_LENGTH_MAX) {
      this.#bytes[this.#used] = length;
      this.#used = end;
    } else {
      this.#used = value.writeTo(this.#bytes, writeLength(this.#bytes, this.#used, length));
    }
  }
}

function rowBytesMax(hours: readonly FrozenHour[]): number {
  let bytes = UUID_BYTES + 2 * WORD_BYTES + 3 * lengthBytes(hours.length);
  for (const { quantity, total } of hours) {
    bytes += WORD_BYTES + textBytesMax(quantity.textLengthMax()) + textBytesMax(total.textLengthMax());
  }
  return bytes;
}

function textBytesMax(length: number): number {
  return lengthBytes(length) + length;
}

/** ClickHouse stores each half little-endian. Returns the offset after it. */
function writeUuid(bytes: Buffer, offset: number, uuid: string): number {
  const end = offset + bytes.write(uuid.replaceAll('-', ''), offset, 'hex');
  const half = offset + UUID_BYTES / 2;
  bytes.subarray(offset, half).reverse();
  bytes.subarray(half, end).reverse();
  return end;
}
