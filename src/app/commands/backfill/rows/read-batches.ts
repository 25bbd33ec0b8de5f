/** Reads a file as batches of lines, from any start of a line or row, in any format. */

import { messageOf } from '../../../../core/failures.ts';
import { InputFailure } from '../failure.ts';
import type { InputFile } from '../files/input-file.ts';
import { readCsv } from './csv.ts';
import { createEventWriter } from './event-of-row.ts';
import { readJsonRows, readLines } from './json-lines.ts';
import type { Line, Position } from './line.ts';
import { type Mapping, SAME_NAMES } from './mapping.ts';
import { readParquet } from './parquet/read-parquet.ts';

export interface LineBatch {
  readonly lines: readonly Line[];
  /** The fraction of the file read so far. */
  readonly fraction: number;
}

/** How a file is to be read. */
export interface Reading {
  /** Null: lines of JSON are events, and columns have the names of event fields. */
  readonly mapping: Mapping | null;
  /** The delimiter of CSV; null: determined by the file name. */
  readonly delimiter: string | null;
}

const AS_THEY_ARE: Reading = { mapping: null, delimiter: null };

/** As many events as one insert has; each of them is looked up among everything stored. */
export const LINES_PER_BATCH = 20_000;
/** Limits the memory of a batch with long lines. */
const BYTES_PER_BATCH = 32 * 1024 * 1024;

/** The word for one record of the file. */
export function unitOf({ format }: Pick<InputFile, 'format'>): 'line' | 'row' {
  return format === 'json' ? 'line' : 'row';
}

/** Rewords an event's error for the file that contains its row. */
export function explainer(
  { format }: Pick<InputFile, 'format'>,
  { mapping }: Reading = AS_THEY_ARE,
): (reason: string) => string {
  if (format === 'json' && mapping === null) return (reason) => reason;
  const writer = createEventWriter(mapping ?? SAME_NAMES);
  return (reason) => writer.explain(reason);
}

/** Throws `InputFailure` if the file cannot be read any further, after the batch of everything before that. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one loop that fills batches, with the two ways in which a file ends.
export async function* readBatches(
  file: InputFile,
  from: Position,
  reading: Reading = AS_THEY_ARE,
): AsyncGenerator<LineBatch> {
  let fraction = 0;
  const pieces = linesOf(file, from, reading, (read) => {
    fraction = Math.min(1, read);
  });
  let batch: Line[] = [];
  let batchBytes = 0;
  let lastLine = from.line;
  try {
    for await (const lines of pieces) {
      for (const line of lines) {
        batch.push(line);
        batchBytes += line.bytes?.length ?? 0;
        lastLine = line.number;
        if (batch.length < LINES_PER_BATCH && batchBytes < BYTES_PER_BATCH) continue;
        yield { lines: batch, fraction };
        batch = [];
        batchBytes = 0;
      }
    }
  } catch (error) {
    if (batch.length > 0) yield { lines: batch, fraction };
    if (error instanceof InputFailure) throw error;
    const problem = file.isGzip ? 'its gzip data is damaged or cut off' : 'it cannot be read any further';
    throw new InputFailure(`${file.name}: ${problem} after ${unitOf(file)} ${lastLine}: ${messageOf(error)}`);
  }
  if (batch.length > 0) yield { lines: batch, fraction };
}

function linesOf(
  file: InputFile,
  from: Position,
  { mapping, delimiter }: Reading,
  onRead: (fraction: number) => void,
): AsyncGenerator<readonly Line[]> {
  const onBytes = (bytes: number) => onRead(file.bytes === 0 ? 1 : bytes / file.bytes);
  if (file.format === 'json' && mapping === null) return readLines(file, from, onBytes);
  const writer = createEventWriter(mapping ?? SAME_NAMES);
  if (file.format === 'json') return readJsonRows(file, from, writer, onBytes);
  const table = { file, from, mapping: mapping ?? SAME_NAMES, writer };
  return file.format === 'csv'
    ? readCsv(table, delimiter ?? delimiterOf(file), onBytes)
    : readParquet(table, onRead);
}

function delimiterOf({ name }: InputFile): string {
  return /\.tsv(\.gz)?$/i.test(name) ? '\t' : ',';
}
