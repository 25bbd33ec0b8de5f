/** A file of rows at any location: the common interface, and local files. */
import { createReadStream } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { messageOf } from '../../../../core/failures.ts';
import { BackfillFailure, EXIT, InputFailure } from '../failure.ts';

export type Format = 'json' | 'csv' | 'parquet';

export interface StoredFile {
  /** A unique name: a path without symbolic links, or an address. */
  readonly name: string;
  readonly bytes: number;
  /** Changes with the content. */
  readonly version: string;
  /** The bytes from `start` on. Throws read errors. */
  stream(start: number, chunkBytes: number): AsyncIterable<Buffer>;
  /** Exactly the bytes from `start` up to `end`. */
  read(start: number, end: number): Promise<Buffer>;
  /** Throws `InputFailure` if the file has changed. */
  unchanged(): Promise<void>;
}

export interface InputFile extends StoredFile {
  readonly format: Format;
  readonly isGzip: boolean;
}

const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);
const PARQUET_MAGIC = Buffer.from('PAR1');

/** File name extensions, without that of compression. */
const ENDINGS: readonly (readonly [ending: string, format: Format])[] = [
  ['.jsonl', 'json'],
  ['.ndjson', 'json'],
  ['.json', 'json'],
  ['.csv', 'csv'],
  ['.tsv', 'csv'],
  ['.parquet', 'parquet'],
];

/** Null if the name does not determine the format. */
export function formatOfName(name: string): Format | null {
  const plain = name.toLowerCase().replace(/\.gz$/, '');
  return ENDINGS.find(([ending]) => plain.endsWith(ending))?.[1] ?? null;
}

/** Detects the format by its first bytes, name or the caller; JSON by default. */
export async function recognise(file: StoredFile, given: Format | null): Promise<InputFile> {
  const magic = await file.read(0, Math.min(4, file.bytes));
  const isGzip = magic.subarray(0, 2).equals(GZIP_MAGIC);
  const isParquet = magic.equals(PARQUET_MAGIC);
  const format = isParquet ? 'parquet' : (given ?? formatOfName(file.name) ?? 'json');
  if (format === 'parquet' && !isParquet) {
    const problem = isGzip ? 'Parquet within gzip is not read; unpack it' : 'it is no Parquet file';
    throw new BackfillFailure(`cannot read ${file.name}: ${problem}`, EXIT.usage);
  }
  return { ...file, format, isGzip };
}

/** Throws `BackfillFailure` if there is no readable file. */
export async function openLocalFile(path: string): Promise<StoredFile> {
  try {
    const file = await open(path);
    try {
      const { size, mtimeMs, isFile } = await statOf(file);
      if (!isFile) throw new Error('it is not a file');
      return localFile(await realpath(path), size, mtimeMs);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new BackfillFailure(`cannot read ${path}: ${messageOf(error)}`, EXIT.usage);
  }
}

async function statOf(file: { stat(): ReturnType<typeof stat> }) {
  const found = await file.stat();
  return { size: Number(found.size), mtimeMs: Number(found.mtimeMs), isFile: found.isFile() };
}

function localFile(name: string, bytes: number, modifiedMs: number): StoredFile {
  return {
    name,
    bytes,
    version: `${bytes}-${modifiedMs}`,
    stream: (start, chunkBytes) => createReadStream(name, { start, highWaterMark: chunkBytes }),
    async read(start, end) {
      const file = await open(name);
      try {
        const buffer = Buffer.alloc(end - start);
        for (let at = 0; at < buffer.length; ) {
          const { bytesRead } = await file.read(buffer, at, buffer.length - at, start + at);
          if (bytesRead === 0) throw new Error(`ends before byte ${end}`);
          at += bytesRead;
        }
        return buffer;
      } finally {
        await file.close();
      }
    },
    async unchanged() {
      const now = await stat(name).catch((error: unknown) => {
        throw new InputFailure(`${name}: ${messageOf(error)}`);
      });
      if (now.size !== bytes || now.mtimeMs !== modifiedMs) throw changed(name);
    },
  };
}

export function changed(name: string): InputFailure {
  return new InputFailure(`${name} has changed while it was read; run the same again`);
}
