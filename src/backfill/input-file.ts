/**
 * The file of events: plain or gzip, told apart by its first bytes, read as batches of lines from any place
 * where a line begins. Offsets count bytes after decompression.
 */
import { createReadStream } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { BackfillFailure, EXIT, reasonOf } from './failure.ts';
import { createLineSplitter, type Line } from './line-splitter.ts';

export interface InputFile {
  /** Without symbolic links, so that one file has one name. */
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly isGzip: boolean;
}

export interface Position {
  readonly offset: number;
  readonly line: number;
}

export interface LineBatch {
  readonly lines: readonly Line[];
  /** How much of the file was read up to here, from 0 to 1. */
  readonly fraction: number;
}

/** As many events as one insert takes; each of them is looked up among everything stored. */
export const LINES_PER_BATCH = 20_000;
/** Bounds the memory of a batch whose lines are long. */
const BYTES_PER_BATCH = 32 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;

/** Throws `BackfillFailure` where there is no file that can be read. */
export async function openInput(path: string): Promise<InputFile> {
  try {
    const file = await open(path);
    try {
      const stat = await file.stat();
      if (!stat.isFile()) throw new Error('it is not a file');
      const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
      const isGzip = bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
      return { path: await realpath(path), bytes: stat.size, modifiedMs: stat.mtimeMs, isGzip };
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new BackfillFailure(`cannot read ${path}: ${reasonOf(error)}`, EXIT.usage);
  }
}

/** Throws `BackfillFailure` when the file cannot be read any further. */
export async function* readBatches(file: InputFile, from: Position): AsyncGenerator<LineBatch> {
  const splitter = createLineSplitter(from.offset, from.line);
  const start = file.isGzip ? 0 : from.offset;
  const source = createReadStream(file.path, { start, highWaterMark: CHUNK_BYTES });
  const fraction = () => (file.bytes === 0 ? 1 : Math.min(1, (start + source.bytesRead) / file.bytes));
  let batch: Line[] = [];
  let batchBytes = 0;
  let lastLine = from.line;
  try {
    for await (const chunk of chunks(source, file.isGzip ? from.offset : 0, file.isGzip)) {
      for (const line of chunk === null ? splitter.finish() : splitter.push(chunk)) {
        batch.push(line);
        batchBytes += line.bytes?.length ?? 0;
        lastLine = line.number;
        if (batch.length < LINES_PER_BATCH && batchBytes < BYTES_PER_BATCH) continue;
        yield { lines: batch, fraction: fraction() };
        batch = [];
        batchBytes = 0;
      }
    }
  } catch (error) {
    const problem = file.isGzip ? 'its gzip data is damaged or cut off' : 'it cannot be read any further';
    throw new BackfillFailure(`${file.path}: ${problem} after line ${lastLine}: ${reasonOf(error)}`);
  }
  if (batch.length > 0) yield { lines: batch, fraction: fraction() };
}

/** The decompressed bytes behind the first `skip`, then null for the end. */
async function* chunks(source: Readable, skip: number, isGzip: boolean): AsyncGenerator<Buffer | null> {
  // Whoever reads the last stream is told of the failure of either.
  const bytes = isGzip ? pipeline(source, createGunzip({ chunkSize: CHUNK_BYTES }), () => {}) : source;
  let passed = 0;
  for await (const piece of bytes) {
    const chunk = Buffer.from(piece);
    passed += chunk.length;
    const wanted = passed - skip;
    if (wanted > 0) yield wanted < chunk.length ? chunk.subarray(chunk.length - wanted) : chunk;
  }
  yield null;
}
