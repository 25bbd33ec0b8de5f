/**
 * The file of events: plain or gzip, told apart by its first bytes, read as batches of lines from any place
 * where a line begins. Offsets count bytes after decompression.
 */
import { createReadStream } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { createGunzip, type Gunzip } from 'node:zlib';
import { BackfillFailure, EXIT, InputFailure, reasonOf } from './failure.ts';
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
/** Compressed bytes taken at once: they become a thousand times as many at most. */
const GZIP_CHUNK_BYTES = 32 * 1024;
/** Decompressed bytes taken at once: less than this is lost of what comes right before damaged data. */
const GUNZIP_CHUNK_BYTES = 16 * 1024;

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

/** Throws `InputFailure` when the file cannot be read any further, behind the batch of all that came before. */
export async function* readBatches(file: InputFile, from: Position): AsyncGenerator<LineBatch> {
  const splitter = createLineSplitter(from.offset, from.line);
  const start = file.isGzip ? 0 : from.offset;
  const highWaterMark = file.isGzip ? GZIP_CHUNK_BYTES : CHUNK_BYTES;
  const source = createReadStream(file.path, { start, highWaterMark });
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
    if (batch.length > 0) yield { lines: batch, fraction: fraction() };
    throw new InputFailure(`${file.path}: ${problem} after line ${lastLine}: ${reasonOf(error)}`);
  }
  if (batch.length > 0) yield { lines: batch, fraction: fraction() };
}

/** The decompressed bytes behind the first `skip`, then null for the end. */
async function* chunks(source: Readable, skip: number, isGzip: boolean): AsyncGenerator<Buffer | null> {
  const bytes = isGzip ? gunzipped(source) : source;
  let passed = 0;
  for await (const piece of bytes) {
    const chunk = Buffer.from(piece);
    passed += chunk.length;
    const wanted = passed - skip;
    if (wanted > 0) yield wanted < chunk.length ? chunk.subarray(chunk.length - wanted) : chunk;
  }
  yield null;
}

/**
 * What gzip data decompresses to. Where it ends too early, everything before that comes first and then the
 * error, where it is damaged all but the last `GUNZIP_CHUNK_BYTES`. A stream that is piped would drop what it
 * holds at that moment.
 */
async function* gunzipped(source: Readable): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: GUNZIP_CHUNK_BYTES });
  const ready: Buffer[] = [];
  let error: Error | null = null;
  let isAtEnd = false;
  gunzip.on('data', (chunk: Buffer) => ready.push(chunk));
  gunzip.on('error', (reason) => {
    error = reason;
  });
  gunzip.on('end', () => {
    isAtEnd = true;
  });
  try {
    for await (const piece of source) {
      await settled(gunzip, (done) => gunzip.write(piece, done));
      yield* ready.splice(0);
      if (error !== null) throw error;
      // Zeros behind the last member, with which some programs fill up a block.
      if (isAtEnd) return;
    }
    await settled(gunzip, () => gunzip.end());
    yield* ready.splice(0);
    if (error !== null) throw error;
  } finally {
    gunzip.destroy();
    source.destroy();
  }
}

/** Resolves when the step is done, or the stream has ended or failed. */
function settled(gunzip: Gunzip, step: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const event of ['end', 'error']) gunzip.off(event, done);
      resolve();
    };
    for (const event of ['end', 'error']) gunzip.on(event, done);
    step(done);
  });
}
