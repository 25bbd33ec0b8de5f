/**
 * A directory of backups: pieces that are named by their SHA-256, and a manifest for each backup. Pieces that two backups have in
 * common are there once.
 *
 * A piece and a manifest get their names when they are whole and on disk. So a backup that is killed leaves pieces that no
 * manifest names, which the next one uses or removes, and the backups before as they were.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Instant } from '../../../core/time.ts';
import { CommandFailure } from '../command-failure.ts';
import { bytesOf, type Manifest, type Piece, piecesOf, readManifest, writeManifest } from './manifest.ts';

interface KeptBackup {
  readonly moment: Instant;
  readonly bytes: number;
}

const IDENTITY = 'tallyhouse-backups.json';
const identitySchema = z.object({ format: z.literal(1), stores: z.string() });
const MANIFEST_NAME = /^(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z)\.json$/;

/** `2026-11-27T01-30-00.000Z`: the order of names is that of time, and every file system takes it. */
export function backupName(moment: number): string {
  return new Date(moment).toISOString().replaceAll(':', '-');
}

/** When the backup with this name was taken. */
export function momentOf(name: string): number {
  return Date.parse(name.replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:'));
}

/** Ascending. None where there is no such directory. */
export async function listBackups(directory: string): Promise<string[]> {
  const names = await readdir(join(directory, 'backups')).catch(() => []);
  return names.flatMap((name) => MANIFEST_NAME.exec(name)?.[1] ?? []).sort();
}

export function manifestPath(directory: string, name: string): string {
  return join(directory, 'backups', `${name}.json`);
}

/** Throws a `CommandFailure` that names the file where it is damaged. */
export async function loadManifest(directory: string, name: string): Promise<Manifest> {
  const path = manifestPath(directory, name);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandFailure(`the backup cannot be read: ${reasonOf(error)}`);
  });
  const manifest = readManifest(text);
  if (manifest === null)
    throw new CommandFailure(`the backup is damaged, or of a later version: ${path} is not what was written`);
  return manifest;
}

/** The last one that can be read, or null. */
export async function lastManifest(directory: string): Promise<Manifest | null> {
  for (const name of (await listBackups(directory)).reverse()) {
    const manifest = await loadManifest(directory, name).catch(() => null);
    if (manifest !== null) return manifest;
  }
  return null;
}

/** The last one, for figures and checks. */
export async function lastBackup(directory: string): Promise<KeptBackup | null> {
  const manifest = await lastManifest(directory);
  return manifest === null ? null : { moment: manifest.moment, bytes: bytesOf(manifest) };
}

/** Bytes of a piece from its file. Rejects with a `CommandFailure` that names the file, at the end at the latest. */
export async function* readPiece(directory: string, { id, bytes }: Piece): AsyncGenerator<Buffer> {
  const path = piecePath(directory, id);
  const hash = createHash('sha256');
  let size = 0;
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: READ_BYTES })) {
      hash.update(chunk);
      size += chunk.length;
      yield chunk;
    }
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure(`the backup is damaged: ${path}: ${reasonOf(error)}`);
  }
  if (size !== bytes)
    throw new CommandFailure(`the backup is damaged: ${path} has ${size} bytes and had ${bytes}`);
  if (hash.digest('hex') !== id) throw new CommandFailure(`the backup is damaged: ${path} has other content`);
}

const READ_BYTES = 1024 * 1024;

function piecePath(directory: string, id: string): string {
  return join(directory, 'pieces', id.slice(0, 2), id);
}

/** Waits as long as so many bytes take. */
export type Throttle = (bytes: number) => Promise<void>;

export class BackupWriter {
  readonly directory: string;
  readonly #throttle: Throttle;
  #writtenBytes = 0;

  private constructor(directory: string, throttle: Throttle) {
    this.directory = directory;
    this.#throttle = throttle;
  }

  /** Makes the directory where there is none. Refuses one with other things in it, and one of other stores. */
  static async open(directory: string, stores: string, throttle: Throttle): Promise<BackupWriter> {
    await written(directory, async () => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await claim(directory, stores);
      await rm(join(directory, 'unfinished'), { recursive: true, force: true });
      for (const name of ['unfinished', 'pieces', 'backups']) {
        await mkdir(join(directory, name), { recursive: true, mode: 0o700 });
      }
    });
    return new BackupWriter(directory, throttle);
  }

  /** Of pieces that were not there before. */
  writtenBytes(): number {
    return this.#writtenBytes;
  }

  /** Stores these bytes once. */
  async piece(chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<Piece> {
    return await written(this.directory, () => this.#written(chunks));
  }

  async #written(chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<Piece> {
    const unfinished = join(this.directory, 'unfinished', randomUUID());
    const hash = createHash('sha256');
    let bytes = 0;
    const file = await open(unfinished, 'wx', 0o600);
    try {
      for await (const chunk of chunks) {
        hash.update(chunk);
        bytes += chunk.length;
        await writeAll(file, chunk);
        await this.#throttle(chunk.length);
      }
      const kept = { id: hash.digest('hex'), bytes };
      if (await this.has(kept)) return kept;
      await file.sync();
      const path = piecePath(this.directory, kept.id);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rename(unfinished, path);
      await syncDirectory(dirname(path));
      this.#writtenBytes += bytes;
      return kept;
    } finally {
      await file.close();
      await rm(unfinished, { force: true });
    }
  }

  /** The same for bytes in memory, which are not written where they are there. */
  async pieceOf(bytes: Buffer): Promise<Piece> {
    const kept = { id: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
    if (!(await this.has(kept))) return await this.piece([bytes]);
    await this.#throttle(bytes.length);
    return kept;
  }

  /** Whether the piece is there, by its size. */
  async has({ id, bytes }: Piece): Promise<boolean> {
    const found = await stat(piecePath(this.directory, id)).catch(() => null);
    return found?.size === bytes;
  }

  /** From now on the backup is there. */
  async end(manifest: Manifest): Promise<void> {
    await written(this.directory, () => this.#ended(manifest));
  }

  async #ended(manifest: Manifest): Promise<void> {
    const unfinished = join(this.directory, 'unfinished', manifest.name);
    const file = await open(unfinished, 'wx', 0o600);
    await file
      .writeFile(writeManifest(manifest))
      .then(() => file.sync())
      .finally(() => file.close());
    await syncDirectory(join(this.directory, 'pieces'));
    await rename(unfinished, manifestPath(this.directory, manifest.name));
    await syncDirectory(join(this.directory, 'backups'));
  }

  /** Removes all backups but the last `keep` ones, null: none; and the pieces that no backup has. */
  async removeOld(keep: number | null): Promise<string[]> {
    const names = await listBackups(this.directory);
    const old = keep === null ? [] : names.slice(0, Math.max(0, names.length - keep));
    for (const name of old) await rm(manifestPath(this.directory, name));
    const used = new Set<string>();
    for (const name of names.slice(old.length)) {
      // Of a manifest that cannot be read it is not known what it needs: then nothing is removed.
      const manifest = await loadManifest(this.directory, name).catch(() => null);
      if (manifest === null) return old;
      for (const { id } of piecesOf(manifest)) used.add(id);
    }
    await removePieces(join(this.directory, 'pieces'), (id) => !used.has(id));
    return old;
  }
}

/** A disk that is full, or files of others, are the operator's to correct. */
async function written<Result>(directory: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    throw new CommandFailure(`the backup in ${directory} cannot be written: ${error.message}`, {
      cause: error,
    });
  }
}

async function claim(directory: string, stores: string): Promise<void> {
  const path = join(directory, IDENTITY);
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) {
    const names = (await readdir(directory)).filter((name) => !HARMLESS.includes(name));
    if (names.length > 0)
      throw new CommandFailure(
        `${directory} has other files (${names[0]}): name an empty directory for backups`,
      );
    await chmod(directory, 0o700).catch(() => undefined);
    const unfinished = `${path}.new`;
    const file = await open(unfinished, 'w', 0o600);
    await file
      .writeFile(JSON.stringify({ format: 1, stores }))
      .then(() => file.sync())
      .finally(() => file.close());
    await rename(unfinished, path);
    return;
  }
  const identity = identitySchema.safeParse(parsed(text));
  if (!identity.success) throw new CommandFailure(`${path} is damaged, or of a later version`);
  if (identity.data.stores !== stores)
    throw new CommandFailure(`${directory} has the backups of other stores: name another directory`);
}

/** An empty file system has the first by itself; a claim that was killed leaves the other. */
const HARMLESS = ['lost+found', `${IDENTITY}.new`];

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function removePieces(pieces: string, isUnused: (id: string) => boolean): Promise<void> {
  for (const folder of await readdir(pieces)) {
    for (const id of await readdir(join(pieces, folder))) {
      if (isUnused(id)) await rm(join(pieces, folder, id), { force: true });
    }
  }
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at);
    if (bytesWritten === 0) throw new Error('the disk takes no more bytes');
    at += bytesWritten;
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  await handle.sync().finally(() => handle.close());
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
