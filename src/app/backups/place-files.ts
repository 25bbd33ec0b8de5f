/**
 * Writes the files of a backup to DATA_DIR: those of ClickHouse, whose parts are cut from their pieces, and a few
 * others.
 */
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DEFINITIONS_FILE } from '../../embedded/kept-definitions.ts';
import { CommandFailure } from '../failures/command-failure.ts';
import type { Manifest, Piece, TablePart } from './manifest.ts';
import type { BackupPlace } from './place.ts';
import { readPiece } from './repository.ts';

/**
 * Writes the files of a verified backup into a DATA_DIR that is empty and locked. Every file is new: none is replaced,
 * and none is written through a link. Throws a `CommandFailure`.
 */
export async function placeFiles(
  dataDir: string,
  from: BackupPlace,
  manifest: Manifest,
  definitions: Piece,
): Promise<void> {
  const engine = join(dataDir, 'clickhouse');
  await placeFile(join(engine, DEFINITIONS_FILE), readPiece(from, definitions));
  for (const { id, parts } of manifest.clickhouse.tables) {
    const table = join(engine, 'data', 'store', id.slice(0, 3), id);
    for (const part of parts) await placePart(join(table, part.name), from, part);
  }
  for (const { path, piece } of manifest.files) {
    await placeFile(join(dataDir, path), readPiece(from, piece));
  }
}

async function placeFile(path: string, chunks: AsyncIterable<Buffer>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Neither an existing file nor a link is opened.
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of chunks) await file.appendFile(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Cuts the piece of a part into its files. */
async function placePart(place: string, from: BackupPlace, { files, piece }: TablePart): Promise<void> {
  const reader = createReader(readPiece(from, piece));
  for (const { path, bytes } of files) await placeFile(join(place, path), reader.take(bytes));
  // Its checksum is known only at the end.
  if (!(await reader.isAtEnd())) throw new CommandFailure(`a part of ${place} has bytes that are no file`);
}

function createReader(chunks: AsyncGenerator<Buffer>) {
  let rest: Buffer = Buffer.alloc(0);
  const more = async () => {
    const { value } = await chunks.next();
    rest = value ?? Buffer.alloc(0);
    return value !== undefined;
  };
  return {
    async *take(bytes: number): AsyncGenerator<Buffer> {
      for (let left = bytes; left > 0; ) {
        if (rest.length === 0 && !(await more()))
          throw new CommandFailure('a piece of the backup is too short');
        const chunk = rest.subarray(0, left);
        rest = rest.subarray(chunk.length);
        left -= chunk.length;
        yield chunk;
      }
    },
    isAtEnd: async () => rest.length === 0 && !(await more()),
  };
}
