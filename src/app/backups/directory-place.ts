/**
 * A directory of backups. A piece and a manifest get their names when they are complete and on disk. So a killed backup
 * leaves unreferenced pieces, which the next one uses or removes, and earlier backups are not affected.
 */

import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  chmod,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  statfs,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../core/failures.ts';
import { CommandFailure } from '../failures/command-failure.ts';
import { identityText, requireSameStores } from './identity.ts';
import { isPieceId, MANIFEST_BYTES_MAX, type Piece } from './manifest.ts';
import {
  type AddedPiece,
  type BackupPlace,
  IDENTITY,
  manifestFile,
  type OnChunk,
  type PieceSource,
  pieceFile,
  type TakenPlace,
} from './place.ts';

const READ_BYTES = 1024 * 1024;

export function directoryPlace(directory: string): BackupPlace {
  const pathOf = (path: string) => join(directory, path);
  return {
    name: directory,
    manifests: async () => await readdir(pathOf('backups')).catch(() => []),
    async text(path) {
      return await textOf(pathOf(path)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw new CommandFailure(`the backup cannot be read: ${error.message}`);
      });
    },
    bytesOf: (piece) => bytesOf(pathOf(pieceFile(piece.id)), piece.bytes),
    pathOf,
    async take(stores) {
      await written(directory, async () => {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        await claim(directory, stores);
        await rm(pathOf('unfinished'), { recursive: true, force: true });
        for (const name of ['unfinished', 'pieces', 'backups']) {
          await mkdir(pathOf(name), { recursive: true, mode: 0o700 });
        }
      });
      return new TakenDirectory(directory);
    },
  };
}

/** A regular file: no link that leads out of the place, and no pipe that never ends. */
async function openFile(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new Error(`${path} is not a file`);
}

async function textOf(path: string): Promise<string> {
  const file = await openFile(path);
  try {
    if ((await file.stat()).size > MANIFEST_BYTES_MAX) throw new Error(`${path} is too large`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

async function* bytesOf(path: string, bytes: number): AsyncGenerator<Buffer> {
  try {
    const file = await openFile(path);
    const { size } = await file.stat();
    if (size !== bytes) {
      await file.close();
      throw new Error(`it has ${size} bytes and had ${bytes}`);
    }
    yield* file.createReadStream({ highWaterMark: READ_BYTES });
  } catch (error) {
    const reason = messageOf(error);
    throw new CommandFailure(`the backup is damaged: ${path}: ${reason}`);
  }
}

class TakenDirectory implements TakenPlace {
  readonly warning = null;
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async freeBytes(): Promise<number | null> {
    const { bavail, bsize } = await statfs(this.#directory);
    return bavail * bsize;
  }

  async has({ id, bytes }: Piece): Promise<boolean> {
    const found = await lstat(this.#pathOf(pieceFile(id))).catch(() => null);
    return found?.isFile() === true && found.size === bytes;
  }

  async addPiece(source: PieceSource, onChunk: OnChunk): Promise<AddedPiece> {
    return await written(this.#directory, () => this.#added(source, onChunk));
  }

  async #added(source: PieceSource, onChunk: OnChunk): Promise<AddedPiece> {
    const unfinished = this.#pathOf(`unfinished/${randomUUID()}`);
    const hash = createHash('sha256');
    let bytes = 0;
    const file = await open(unfinished, 'wx', 0o600);
    try {
      for await (const chunk of source()) {
        hash.update(chunk);
        bytes += chunk.length;
        await writeAll(file, chunk);
        await onChunk(chunk.length);
      }
      const piece = { id: hash.digest('hex'), bytes };
      if (await this.has(piece)) return { piece, isNew: false };
      await file.sync();
      const path = this.#pathOf(pieceFile(piece.id));
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rename(unfinished, path);
      await syncDirectory(dirname(path));
      return { piece, isNew: true };
    } finally {
      await file.close();
      await rm(unfinished, { force: true });
    }
  }

  async addManifest(name: string, text: string): Promise<void> {
    await written(this.#directory, async () => {
      const unfinished = this.#pathOf(`unfinished/${name}`);
      await writeSynced(unfinished, text, 'wx');
      await syncDirectory(this.#pathOf('pieces'));
      await rename(unfinished, this.#pathOf(manifestFile(name)));
      await syncDirectory(this.#pathOf('backups'));
    });
  }

  async removeManifest(name: string): Promise<void> {
    await rm(this.#pathOf(manifestFile(name)));
  }

  async removePieces(isUnused: (id: string) => boolean): Promise<void> {
    const pieces = this.#pathOf('pieces');
    for (const folder of await readdir(pieces, { withFileTypes: true })) {
      // A link may lead to the files of others.
      if (!folder.isDirectory()) continue;
      for (const id of await readdir(join(pieces, folder.name))) {
        if (isPieceId(id) && isUnused(id)) await rm(join(pieces, folder.name, id), { force: true });
      }
    }
  }

  async release(): Promise<void> {}

  #pathOf(path: string): string {
    return join(this.#directory, path);
  }
}

/** A full disk, or files of others, have to be fixed by the operator. */
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
  if (text !== null) return requireSameStores(text, stores, { place: directory, file: path });
  const names = (await readdir(directory)).filter((name) => !HARMLESS.includes(name));
  if (names.length > 0)
    throw new CommandFailure(
      `${directory} has other files (${names[0]}): name an empty directory for backups`,
    );
  await chmod(directory, 0o700).catch(() => undefined);
  await writeSynced(`${path}.new`, identityText(stores), 'w');
  await rename(`${path}.new`, path);
}

/** An empty file system contains the first one; a claim that was killed leaves the other. */
const HARMLESS = ['lost+found', `${IDENTITY}.new`];

async function writeSynced(path: string, text: string, flags: 'w' | 'wx'): Promise<void> {
  const file = await open(path, flags, 0o600);
  await file
    .writeFile(text)
    .then(() => file.sync())
    .finally(() => file.close());
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
