/**
 * The bytes of a log record: a header with its number and two checksums, and the rows of one batch.
 *
 * The header has a separate checksum, so that its length can be trusted if only the rows are damaged.
 */
import { crc32 } from 'node:zlib';

/** Rows that were appended together. */
export interface LogRecord {
  /** From 1 on, without gaps. */
  readonly number: number;
  /** Number of rows. */
  readonly count: number;
  readonly rows: Buffer;
}

const MAGIC = Buffer.from('TLR1');
const LENGTH_AT = 4;
const NUMBER_AT = 8;
const COUNT_AT = 16;
const ROWS_CHECKSUM_AT = 20;
const HEADER_CHECKSUM_AT = 24;
const HEADER_BYTES = 28;

export function recordHeader({ number, count, rows }: LogRecord): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt32LE(rows.length, LENGTH_AT);
  header.writeBigUInt64LE(BigInt(number), NUMBER_AT);
  header.writeUInt32LE(count, COUNT_AT);
  header.writeUInt32LE(crc32(rows), ROWS_CHECKSUM_AT);
  header.writeUInt32LE(crc32(header.subarray(0, HEADER_CHECKSUM_AT)), HEADER_CHECKSUM_AT);
  return header;
}

/**
 * The whole records among these bytes, in order. Damaged records are skipped; the next one is found by the length in
 * its header, or by the first bytes of the next header.
 */
export function* wholeRecords(bytes: Buffer): Generator<LogRecord> {
  for (let at = 0; at >= 0 && at < bytes.length; ) {
    const header = readHeader(bytes, at);
    if (header === null) {
      at = bytes.indexOf(MAGIC, at + 1);
      continue;
    }
    const { length, number, count, checksum } = header;
    const rows = bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length);
    if (rows.length === length && crc32(rows) === checksum) yield { number, count, rows };
    at += HEADER_BYTES + length;
  }
}

interface Header {
  readonly length: number;
  readonly number: number;
  readonly count: number;
  readonly checksum: number;
}

/** Null if there is no header, or a damaged one. */
function readHeader(bytes: Buffer, at: number): Header | null {
  if (at + HEADER_BYTES > bytes.length) return null;
  const header = bytes.subarray(at, at + HEADER_BYTES);
  const isOurs = header.subarray(0, MAGIC.length).equals(MAGIC);
  if (!isOurs || header.readUInt32LE(HEADER_CHECKSUM_AT) !== crc32(header.subarray(0, HEADER_CHECKSUM_AT)))
    return null;
  return {
    length: header.readUInt32LE(LENGTH_AT),
    number: Number(header.readBigUInt64LE(NUMBER_AT)),
    count: header.readUInt32LE(COUNT_AT),
    checksum: header.readUInt32LE(ROWS_CHECKSUM_AT),
  };
}
