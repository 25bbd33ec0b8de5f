/** Parses rows and files from the bytes of a streamed answer, and checks that they are complete. */
import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import { afterOtherWork } from '../../../core/in-chunks.ts';

/** A row: the text of each cell, plain decimals and RFC 3339 among them. */
export type ReportRow = ReadonlyArray<string | null>;

const reportRow = z.object({ cells: z.array(z.string().nullable()) });

/** A failure within the first part of an answer is known before any of it is sent, so that it can be a refusal. */
const BEGINNING_BYTES = 1024 * 1024;

/** The same pieces; the first one is sent only at the end of the answer or at that length. */
export async function* afterBeginning(
  pieces: AsyncIterable<Buffer>,
  bytes = BEGINNING_BYTES,
): AsyncGenerator<Buffer, void, undefined> {
  const held: Buffer[] = [];
  let length = 0;
  for await (const piece of pieces) {
    if (length >= bytes) {
      yield piece;
      continue;
    }
    held.push(piece);
    length += piece.length;
    if (length >= bytes) yield* held.splice(0);
  }
  yield* held;
}

/** Rows that are parsed, and written by the caller, before other work of the process runs. */
const ROWS_PER_PART = 1_000;

/**
 * The rows of an answer as JSONEachRow within brackets, some at a time. Throws if it ends before the closing bracket,
 * and if it contains anything but rows.
 */
export async function* rowsOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<ReportRow[], void, undefined> {
  const utf8 = new StringDecoder('utf8');
  let rest = '';
  let isWhole = false;
  for await (const piece of pieces) {
    const lines = `${rest}${utf8.write(piece)}`.split('\n');
    rest = lines.pop() ?? '';
    isWhole ||= lines.includes(']');
    for (let from = 0; from < lines.length; from += ROWS_PER_PART) {
      const rows = lines
        .slice(from, from + ROWS_PER_PART)
        .filter(isRow)
        .map(rowOf);
      if (rows.length > 0) yield rows;
      await afterOtherWork();
    }
  }
  if (!isWhole) throw new Error('the answer of ClickHouse ends before its last row');
}

/** False for the brackets around all rows. A line break in a text is escaped. */
function isRow(line: string): boolean {
  return line !== '' && line !== '[' && line !== ']';
}

function rowOf(line: string): ReportRow {
  return reportRow.parse(JSON.parse(line.endsWith(',') ? line.slice(0, -1) : line)).cells;
}

const PARQUET_END = 'PAR1';

/** The same pieces. Throws before the last of them if they do not end like a Parquet file. */
export async function* wholeParquet(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let last = Buffer.alloc(0);
  for await (const piece of pieces) {
    // The file's last bytes may be split over two pieces.
    const both = Buffer.concat([last, piece]);
    const kept = Math.min(both.length, PARQUET_END.length);
    if (both.length > kept) yield both.subarray(0, both.length - kept);
    last = both.subarray(both.length - kept);
  }
  if (last.toString('latin1') !== PARQUET_END) {
    throw new Error('the answer of ClickHouse ends before the end of the Parquet file');
  }
  yield last;
}
