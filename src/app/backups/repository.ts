/**
 * The backups of a place (`place.ts`). Pieces shared by backups are stored once. A killed backup leaves unreferenced
 * pieces, which the next one uses or removes, and earlier backups are not affected.
 */
import { createHash } from 'node:crypto';
import type { Instant } from '../../core/time.ts';
import { DEFINITIONS_BYTES_MAX, definitionsProblem } from '../../embedded/kept-definitions.ts';
import { CommandFailure } from '../failures/command-failure.ts';
import {
  bytesOf,
  type Manifest,
  ManifestProblem,
  type Piece,
  piecesOf,
  type RowTable,
  readManifest,
  writeManifest,
} from './manifest.ts';
import { type BackupPlace, manifestFile, type PieceSource, pieceFile, type TakenPlace } from './place.ts';
import { sizeText } from './size-text.ts';

interface KeptBackup {
  readonly moment: Instant;
  readonly bytes: number;
}

const MANIFEST_NAME = /^(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z)\.json$/;

/** `2026-11-27T01-30-00.000Z`: names sort by time, and are valid in every file system. */
export function backupName(moment: number): string {
  return new Date(moment).toISOString().replaceAll(':', '-');
}

/** When the backup with this name was taken. */
export function momentOf(name: string): number {
  return Date.parse(name.replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:'));
}

/** Ascending. Empty if the place does not exist. */
export async function listBackups(place: BackupPlace): Promise<string[]> {
  const names = await place.manifests();
  return names.flatMap((name) => MANIFEST_NAME.exec(name)?.[1] ?? []).sort();
}

/** Throws a `CommandFailure` that names the file if it is damaged. */
export async function loadManifest(place: BackupPlace, name: string): Promise<Manifest> {
  const path = place.pathOf(manifestFile(name));
  const text = await place.text(manifestFile(name));
  if (text === null) throw new CommandFailure(`the backup cannot be read: there is no ${path}`);
  const manifest = readAs(path, text);
  if (manifest.name !== name)
    throw new CommandFailure(`the backup is damaged: ${path} is the manifest of another backup`);
  return manifest;
}

function readAs(path: string, text: string): Manifest {
  try {
    return readManifest(text);
  } catch (error) {
    if (!(error instanceof ManifestProblem)) throw error;
    throw new CommandFailure(`the backup is damaged, or of a later version: ${path} ${error.message}`);
  }
}

/** The last readable one, or null. */
export async function lastManifest(place: BackupPlace): Promise<Manifest | null> {
  for (const name of (await listBackups(place)).reverse()) {
    const manifest = await loadManifest(place, name).catch(() => null);
    if (manifest !== null) return manifest;
  }
  return null;
}

/** The last one, for figures and checks. */
export async function lastBackup(place: BackupPlace): Promise<KeptBackup | null> {
  const manifest = await lastManifest(place);
  return manifest === null ? null : { moment: manifest.moment, bytes: bytesOf(manifest) };
}

/** Bytes of a piece. Rejects with a `CommandFailure` that names its file, at the latest at the end. */
export async function* readPiece(place: BackupPlace, piece: Piece): AsyncGenerator<Buffer> {
  const path = place.pathOf(pieceFile(piece.id));
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of place.bytesOf(piece)) {
    hash.update(chunk);
    size += chunk.length;
    yield chunk;
  }
  if (size !== piece.bytes)
    throw new CommandFailure(`the backup is damaged: ${path} has ${size} bytes and had ${piece.bytes}`);
  if (hash.digest('hex') !== piece.id)
    throw new CommandFailure(`the backup is damaged: ${path} has other content`);
}

/** Throws a `CommandFailure` that names the file if it does not match the manifest. Reads every byte. */
export async function checkBackup(place: BackupPlace, manifest: Manifest): Promise<void> {
  await checkDefinitions(place, manifest);
  const rows = new Set<string>();
  for (const table of manifest.postgres.tables) {
    await checkRows(place, table);
    for (const { id } of table.pieces) rows.add(id);
  }
  for (const piece of piecesOf(manifest)) {
    if (rows.has(piece.id)) continue;
    for await (const _ of readPiece(place, piece));
  }
}

async function checkDefinitions(
  place: BackupPlace,
  { clickhouse: { definitions, tables } }: Manifest,
): Promise<void> {
  if (definitions === undefined) return;
  const path = place.pathOf(pieceFile(definitions.id));
  if (definitions.bytes > DEFINITIONS_BYTES_MAX)
    throw new CommandFailure(`the backup is damaged: ${path} is too large for definitions of tables`);
  const chunks: Buffer[] = [];
  for await (const chunk of readPiece(place, definitions)) chunks.push(chunk);
  const problem = definitionsProblem(Buffer.concat(chunks).toString(), tables);
  if (problem !== null) throw new CommandFailure(`the backup cannot be trusted: ${path} ${problem}`);
}

const [NEWLINE, TAB] = [0x0a, 0x09];

/** In the text format of COPY a row is a line, and tabs separate columns: within values both are escaped. */
async function checkRows(place: BackupPlace, { name, columns, rows, pieces }: RowTable): Promise<void> {
  let [lines, tabs] = [0, 0];
  for (const piece of pieces) {
    for await (const chunk of readPiece(place, piece)) {
      lines += occurrences(chunk, NEWLINE);
      tabs += occurrences(chunk, TAB);
    }
  }
  if (lines === rows && tabs === rows * Math.max(0, columns.length - 1)) return;
  throw new CommandFailure(
    `the backup is damaged: table ${name} has other rows or columns than its manifest says`,
  );
}

function occurrences(bytes: Buffer, wanted: number): number {
  let count = 0;
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) count += 1;
  return count;
}

/** Delays by the time for this many bytes. */
export type Throttle = (bytes: number) => Promise<void>;

export class BackupWriter {
  readonly #place: BackupPlace;
  readonly #taken: TakenPlace;
  readonly #throttle: Throttle;
  #writtenBytes = 0;

  private constructor(place: BackupPlace, taken: TakenPlace, throttle: Throttle) {
    this.#place = place;
    this.#taken = taken;
    this.#throttle = throttle;
  }

  /** Locks the place, until `close`. Throws a `CommandFailure` if it is not for these backups. */
  static async open(place: BackupPlace, stores: string, throttle: Throttle): Promise<BackupWriter> {
    return new BackupWriter(place, await place.take(stores), throttle);
  }

  /** A warning about the place for the operator; null: none. */
  get warning(): string | null {
    return this.#taken.warning;
  }

  /** Call it before copying. Throws a `CommandFailure` if the place has less space. */
  async requireRoom(bytes: number): Promise<void> {
    const free = await this.#taken.freeBytes();
    if (free === null || free >= bytes) return;
    const sizes = `${sizeText(free)} are free in ${this.#place.name}, and about ${sizeText(bytes)} are needed`;
    throw new CommandFailure(`${sizes}: remove old backups, or name another place`);
  }

  /** Bytes of pieces that did not exist before. */
  writtenBytes(): number {
    return this.#writtenBytes;
  }

  /** Stores these bytes once. */
  async piece(source: PieceSource): Promise<Piece> {
    const { piece, isNew } = await this.#taken.addPiece(source, this.#throttle);
    if (isNew) this.#writtenBytes += piece.bytes;
    return piece;
  }

  /** `piece` for bytes in memory, which are not written if they exist. */
  async pieceOf(bytes: Buffer): Promise<Piece> {
    const kept = { id: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
    if (!(await this.has(kept))) return await this.piece(() => [bytes]);
    await this.#throttle(bytes.length);
    return kept;
  }

  /** Whether the piece exists, by its size. */
  async has(piece: Piece): Promise<boolean> {
    return await this.#taken.has(piece);
  }

  /** Completes the backup. */
  async end(manifest: Manifest): Promise<void> {
    await this.#taken.addManifest(manifest.name, writeManifest(manifest));
  }

  /** Removes all backups but the last `keep` ones, null: none; and unreferenced pieces. */
  async removeOld(keep: number | null): Promise<string[]> {
    const names = await listBackups(this.#place);
    const old = keep === null ? [] : names.slice(0, Math.max(0, names.length - keep));
    for (const name of old) await this.#taken.removeManifest(name);
    const used = new Set<string>();
    for (const name of names.slice(old.length)) {
      // The pieces of an unreadable manifest are unknown: then nothing is removed.
      const manifest = await loadManifest(this.#place, name).catch(() => null);
      if (manifest === null) return old;
      for (const { id } of piecesOf(manifest)) used.add(id);
    }
    await this.#taken.removePieces((id) => !used.has(id));
    return old;
  }

  /** Releases the place for other backups. */
  async close(): Promise<void> {
    await this.#taken.release();
  }
}
