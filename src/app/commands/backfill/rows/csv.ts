/**
 * CSV with column names in the first row, as in RFC 4180. Cells are the exact texts of the file. An unquoted empty
 * cell, or \N, has no value. Rows of an earlier run are read again and skipped, because the start of a row is known
 * only from the row before it.
 */
import { isUtf8 } from 'node:buffer';
import { pipeline, Readable } from 'node:stream';
import { CsvError, type Options, parse } from 'csv-parse';
import { messageOf } from '../../../../core/failures.ts';
import { EXIT, InputFailure } from '../failure.ts';
import { bytesOf } from './bytes.ts';
import { checkColumns } from './columns.ts';
import type { EventWriter } from './event-of-row.ts';
import { LINE_BYTES_MAX, type Line, lineWithout } from './line.ts';
import type { Table } from './table.ts';

type Cell = string | null;

const ROWS_PER_PIECE = 1_000;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const ONLY_ASCII = /^[\0-\x7f]*$/;

export async function* readCsv(
  { file, from, mapping, writer }: Table,
  delimiter: string,
  onBytes: (bytes: number) => void,
): AsyncGenerator<readonly Line[]> {
  let columns: readonly string[] | null = null;
  let number = 0;
  let piece: Line[] = [];
  try {
    for await (const cells of recordsOf(withoutMark(bytesOf(file, 0, onBytes)), delimiter)) {
      if (columns === null) {
        columns = namesOf(cells, file.name);
        checkColumns(mapping, columns, file.name);
        continue;
      }
      number += 1;
      if (number <= from.line) continue;
      piece.push(lineOf(cells, columns, number, writer));
      if (piece.length < ROWS_PER_PIECE) continue;
      yield piece;
      piece = [];
    }
  } catch (error) {
    // The lines that were read are yielded before the error is thrown.
    yield piece;
    throw error;
  }
  yield piece;
}

function namesOf(cells: readonly Cell[], file: string): readonly string[] {
  const refuse = (problem: string) => {
    throw new InputFailure(`cannot read ${file}: ${problem}`, EXIT.usage);
  };
  const texts = cells.map(textOf);
  if (texts.includes(undefined)) refuse('its first row is not valid UTF-8');
  const names = texts.map((text) => text?.trim() ?? '');
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  const nameless = names.indexOf('');
  if (nameless !== -1) refuse(`column ${nameless + 1} of its first row has no name`);
  if (twice !== undefined) refuse(`two of its columns are called ${JSON.stringify(twice)}`);
  return names;
}

function lineOf(
  cells: readonly Cell[],
  columns: readonly string[],
  number: number,
  writer: EventWriter,
): Line {
  const source = () =>
    JSON.stringify(cells.map((cell) => (cell === null ? null : Buffer.from(cell, 'latin1').toString())));
  const without = (problem: string | null) => lineWithout(number, number, problem, source);
  if (cells.length !== columns.length) {
    return without(`has ${cells.length} cells where there are ${columns.length} columns`);
  }
  const row = new Map<string, Cell>();
  for (const [index, name] of columns.entries()) {
    const text = textOf(cells[index] ?? null);
    if (text === undefined) return without(`column ${JSON.stringify(name)}: is not valid UTF-8`);
    row.set(name, text);
  }
  const written = writer.write(row);
  if (written === 'left-out') return without(null);
  if ('problem' in written) return without(written.problem);
  return { number, bytes: Buffer.from(written.json), end: number, source };
}

/** Cells are read as bytes, so that invalid UTF-8 is not replaced. Undefined for invalid UTF-8. */
function textOf(cell: Cell): Cell | undefined {
  if (cell === null || ONLY_ASCII.test(cell)) return cell;
  const bytes = Buffer.from(cell, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : undefined;
}

/**
 * The complete records. If the bytes end too early, the incomplete record is dropped, and the error is thrown after the
 * others.
 */
async function* recordsOf(bytes: AsyncIterable<Buffer>, delimiter: string): AsyncGenerator<readonly Cell[]> {
  let failure: { readonly error: unknown } | null = null;
  async function* untilFailure() {
    try {
      yield* bytes;
    } catch (error) {
      failure = { error };
    }
  }
  const parser = parse(optionsOf(delimiter));
  // Its failure is handled when the parser is read.
  pipeline(Readable.from(untilFailure(), { objectMode: false }), parser, () => {});
  let last: readonly Cell[] | null = null;
  try {
    for await (const { record, raw } of parser) {
      if (last !== null) yield last;
      last = withoutNone(record, raw, delimiter);
    }
  } catch (error) {
    if (failure === null && last !== null) yield last;
    if (failure === null)
      throw error instanceof CsvError ? new Error(`it is no CSV: ${messageOf(error)}`) : error;
  }
  if (failure !== null) throw failureOf(failure);
  if (last !== null) yield last;
}

function failureOf({ error }: { readonly error: unknown }): unknown {
  return error;
}

function optionsOf(delimiter: string): Options {
  return {
    delimiter,
    encoding: 'latin1',
    record_delimiter: ['\r\n', '\n'],
    // A wrong number of cells is reported below, with the number of the row.
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: LINE_BYTES_MAX,
    // Whether cells were quoted; the library's own flag for each takes ten times as long as reading it.
    raw: true,
  };
}

const isNone = (cell: string) => cell === '' || cell === '\\N';

function withoutNone(cells: readonly string[], raw: string, delimiter: string): readonly Cell[] {
  if (!cells.some(isNone)) return cells;
  const quoted = raw.includes('"') ? quotedCells(raw.replace(/^[\r\n]+/, ''), delimiter) : null;
  return cells.map((cell, at) => (isNone(cell) && quoted?.has(at) !== true ? null : cell));
}

/** Indexes of the quoted cells in a complete record. */
function quotedCells(raw: string, delimiter: string): ReadonlySet<number> {
  const quoted = new Set<number>();
  let isWithin = false;
  let cell = 0;
  let isFirst = true;
  for (const character of raw) {
    if (character === '"') {
      if (isFirst) quoted.add(cell);
      isWithin = !isWithin;
      isFirst = false;
    } else if (character === delimiter && !isWithin) {
      cell += 1;
      isFirst = true;
    } else isFirst = false;
  }
  return quoted;
}

async function* withoutMark(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begin: Buffer | null = Buffer.alloc(0);
  for await (const chunk of bytes) {
    if (begin === null) {
      yield chunk;
      continue;
    }
    begin = Buffer.concat([begin, chunk]);
    if (begin.length < BYTE_ORDER_MARK.length) continue;
    yield begin.subarray(0, 3).equals(BYTE_ORDER_MARK) ? begin.subarray(3) : begin;
    begin = null;
  }
  if (begin !== null && begin.length > 0) yield begin;
}
