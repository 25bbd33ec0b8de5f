/**
 * Copies the parts of an embedded ClickHouse, each as one piece: its concatenated files. A part never changes, so a
 * part of the previous backup is not read again.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../core/failures.ts';
import type { Manifest, TablePart } from '../../backups/manifest.ts';
import type { FrozenTables } from '../../backups/messages.ts';
import type { BackupWriter } from '../../backups/repository.ts';
import { CommandFailure } from '../../failures/command-failure.ts';

type CopiedTables = Manifest['clickhouse']['tables'];

/** A part to copy, or one that exists already. */
interface FoundPart extends Omit<TablePart, 'piece'> {
  readonly directory: string;
  readonly bytes: number;
  readonly piece: TablePart['piece'] | null;
}

export interface FoundTable {
  readonly name: string;
  readonly id: string;
  readonly parts: readonly FoundPart[];
}

/** Rebuilt from the events. */
const REBUILT_TABLES = ['known_id_runs'];

/** Lists the parts, without reading them. */
export async function findParts(
  { directory, tables }: FrozenTables,
  before: Manifest | null,
  writer: BackupWriter,
): Promise<FoundTable[]> {
  const found: FoundTable[] = [];
  for (const { name, id } of tables) {
    const place = join(directory, 'store', id.slice(0, 3), id);
    const known = before?.clickhouse.tables.find((table) => table.id === id)?.parts ?? [];
    const byName = new Map(known.map((part) => [part.name, part]));
    const parts: FoundPart[] = [];
    const names = REBUILT_TABLES.includes(name) ? [] : await namesIn(place);
    for (const part of names.sort()) {
      const looked = await lookAt(part, join(place, part));
      const same = byName.get(part);
      const isSame = same?.content === looked.content && (await writer.has(same.piece));
      parts.push({ ...looked, piece: isSame ? same.piece : null });
    }
    found.push({ name, id, parts });
  }
  const migrations = found.find(({ name }) => name === 'schema_migrations');
  if (migrations === undefined || migrations.parts.length === 0)
    throw new CommandFailure(`the service has kept no parts of ClickHouse in ${directory}`);
  return found;
}

/** The engine creates no directory for a table without rows. The record of migrations always has some. */
async function namesIn(place: string): Promise<string[]> {
  return await readdir(place).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

async function lookAt(name: string, directory: string): Promise<FoundPart> {
  const paths = await readdir(directory, { recursive: true, withFileTypes: true });
  const files: { path: string; bytes: number }[] = [];
  for (const entry of paths) {
    if (!entry.isFile()) continue;
    const full = join(entry.parentPath, entry.name);
    files.push({ path: full.slice(directory.length + 1), bytes: (await stat(full)).size });
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const checksums = await readFile(join(directory, 'checksums.txt'));
  return {
    name,
    directory,
    rows: Number(await readFile(join(directory, 'count.txt'), 'utf8')),
    content: createHash('sha256').update(checksums).digest('hex'),
    files,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    piece: null,
  };
}

/** The number of bytes that `copyParts` will read. */
export function bytesToCopy(tables: readonly FoundTable[]): number {
  const parts = tables.flatMap((table) => table.parts);
  return parts.reduce((sum, { piece, bytes }) => sum + (piece === null ? bytes : 0), 0);
}

/** `onBytes` is called for every copied piece. */
export async function copyParts(
  tables: readonly FoundTable[],
  writer: BackupWriter,
  onBytes: (bytes: number) => void,
): Promise<CopiedTables> {
  const copied: CopiedTables = [];
  for (const { name, id, parts: found } of tables) {
    const parts: TablePart[] = [];
    for (const part of found) {
      const { name: partName, rows, content, files } = part;
      const piece = part.piece ?? (await writer.piece(() => bytesOf(part)));
      if (piece.bytes !== part.bytes) throw new CommandFailure(`${part.directory} changed while it was read`);
      if (part.piece === null) onBytes(part.bytes);
      parts.push({ name: partName, rows, content, files, piece });
    }
    copied.push({ name, id, rows: parts.reduce((sum, { rows }) => sum + rows, 0), parts });
  }
  return copied;
}

const READ_BYTES = 1024 * 1024;

async function* bytesOf({ directory, files }: FoundPart): AsyncGenerator<Buffer> {
  try {
    for (const { path } of files) {
      yield* createReadStream(join(directory, path), { highWaterMark: READ_BYTES });
    }
  } catch (error) {
    const reason = messageOf(error);
    throw new CommandFailure(`frozen parts cannot be read, perhaps because the service has ended: ${reason}`);
  }
}
