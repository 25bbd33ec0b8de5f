/**
 * Backups below a prefix of an S3-compatible store, with the names and bytes of a directory. A piece is read twice:
 * once for its name, then to be sent. So no object is visible before it is complete, and nothing is stored temporarily.
 */
import { createHash } from 'node:crypto';
import { CommandFailure } from '../failures/command-failure.ts';
import type { S3Address } from '../s3/s3-address.ts';
import { inRanges, listObjects } from '../s3/s3-objects.ts';
import { S3Failure, type S3Requests } from '../s3/s3-requests.ts';
import { abortUploads, uploadObject } from '../s3/s3-upload.ts';
import { identityText, requireSameStores } from './identity.ts';
import { isPieceId, type Piece } from './manifest.ts';
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
import { type S3Lease, takeLease } from './s3-lease.ts';

const LEASE = 'running-backup';
/** Maximum concurrent removals. */
const REMOVED_AT_ONCE = 16;

export function s3Place(requests: S3Requests, { bucket, prefix }: S3Address): BackupPlace {
  const folder = prefix.replace(/^\/+|\/+$/g, '');
  const root = folder === '' ? '' : `${folder}/`;
  const name = `s3://${bucket}/${folder}`.replace(/\/$/, '');
  const keyOf = (path: string) => `${root}${path}`;
  const pathOf = (path: string) => `s3://${bucket}/${keyOf(path)}`;
  const text = async (path: string) => {
    const { status, body } = await requests.send({ key: keyOf(path), accepted: [404] });
    return status === 404 ? null : body.toString();
  };
  return {
    name,
    async manifests() {
      const found: string[] = [];
      const prefixOfAll = keyOf('backups/');
      for await (const { key } of listObjects(requests, prefixOfAll))
        found.push(key.slice(prefixOfAll.length));
      return found;
    },
    text,
    bytesOf: (piece) => bytesOf(requests, keyOf(pieceFile(piece.id)), piece.bytes),
    pathOf,
    async take(stores) {
      const identity = await text(IDENTITY);
      if (identity !== null) requireSameStores(identity, stores, { place: name, file: pathOf(IDENTITY) });
      else await requireUnused(requests, keyOf, name);
      const lease = await takeLease(requests, keyOf(LEASE), name);
      try {
        // If two found no identity, one of them has the lease.
        const now = identity ?? (await text(IDENTITY));
        if (now !== null) requireSameStores(now, stores, { place: name, file: pathOf(IDENTITY) });
        else
          await requests.send({
            method: 'PUT',
            key: keyOf(IDENTITY),
            body: Buffer.from(identityText(stores)),
          });
        await abortUploads(requests, keyOf('pieces/'));
        return new TakenPrefix({ requests, keyOf, name, lease, kept: await keptPieces(requests, keyOf) });
      } catch (error) {
        await lease.release();
        throw error;
      }
    },
  };
}

type KeyOf = (path: string) => string;

async function requireUnused(requests: S3Requests, keyOf: KeyOf, name: string): Promise<void> {
  for await (const { key } of listObjects(requests, keyOf(''))) {
    // Some stores represent a folder by an empty object with its name.
    if (key === keyOf('') || key === keyOf(LEASE)) continue;
    throw new CommandFailure(`${name} has other objects (${key}): name a prefix without any for backups`);
  }
}

/** All existing pieces, with their sizes: a request for each would take longer. */
async function keptPieces(requests: S3Requests, keyOf: KeyOf): Promise<Map<string, number>> {
  const kept = new Map<string, number>();
  for await (const { key, bytes } of listObjects(requests, keyOf('pieces/'))) {
    const id = key.slice(key.lastIndexOf('/') + 1);
    if (key === keyOf(pieceFile(id)) && isPieceId(id)) kept.set(id, bytes);
  }
  return kept;
}

async function* bytesOf(requests: S3Requests, key: string, bytes: number): AsyncGenerator<Buffer> {
  const path = `s3://${requests.bucket}/${key}`;
  const damaged = (problem: string) => new CommandFailure(`the backup is damaged: ${path} ${problem}`);
  const read = async (start: number, end: number) => {
    const { status, headers, body } = await requests.send({
      key,
      headers: bytes === 0 ? {} : { range: `bytes=${start}-${end - 1}` },
      accepted: [404, 416],
    });
    if (status === 404) throw damaged('is missing');
    if (status === 416) throw damaged(`is shorter than the ${bytes} bytes that it had`);
    const size = status === 200 ? body.length : sizeIn(headers.get('content-range'));
    if (size !== null && size !== bytes) throw damaged(`has ${size} bytes and had ${bytes}`);
    if (body.length !== end - start) throw damaged('was sent in another range than was asked for');
    return body;
  };
  if (bytes === 0) yield await read(0, 0);
  else yield* inRanges(read, 0, bytes);
}

/** The total size in `bytes 0-99/1234`; null if the store does not return it. */
function sizeIn(range: string | null): number | null {
  const [, size] = /\/(\d+)$/.exec(range ?? '') ?? [];
  return size === undefined ? null : Number(size);
}

interface TakenParts {
  readonly requests: S3Requests;
  readonly keyOf: KeyOf;
  readonly name: string;
  readonly lease: S3Lease;
  /** By id. */
  readonly kept: Map<string, number>;
}

class TakenPrefix implements TakenPlace {
  readonly #parts: TakenParts;

  constructor(parts: TakenParts) {
    this.#parts = parts;
  }

  get warning(): string | null {
    const { lease, name } = this.#parts;
    if (lease.isSafe) return null;
    return `the store of ${name} does not know If-None-Match: see yourself that no two backups into it begin in the same moment`;
  }

  async freeBytes(): Promise<null> {
    return null;
  }

  async has({ id, bytes }: Piece): Promise<boolean> {
    return this.#parts.kept.get(id) === bytes;
  }

  async addPiece(source: PieceSource, onChunk: OnChunk): Promise<AddedPiece> {
    const hash = createHash('sha256');
    let bytes = 0;
    const heard = async function* () {
      for await (const chunk of source()) {
        await onChunk(chunk.length);
        yield chunk;
      }
    };
    for await (const chunk of heard()) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    const piece = { id: hash.digest('hex'), bytes };
    if (await this.has(piece)) return { piece, isNew: false };
    const { requests, keyOf, kept } = this.#parts;
    await uploadObject(requests, {
      key: keyOf(pieceFile(piece.id)),
      bytes,
      chunks: this.#same(heard(), piece),
    });
    kept.set(piece.id, bytes);
    return { piece, isNew: true };
  }

  /** Throws if the bytes differ from those that the piece was named by. */
  async *#same(chunks: AsyncIterable<Buffer>, piece: Piece): AsyncGenerator<Buffer> {
    const hash = createHash('sha256');
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
    if (hash.digest('hex') !== piece.id) throw new CommandFailure('a part changed while it was read');
  }

  async addManifest(name: string, text: string): Promise<void> {
    const { requests, keyOf, lease } = this.#parts;
    await lease.check();
    const key = keyOf(manifestFile(name));
    await this.#putManifest(name, key, text);
    // A process that took the place in between did not know the manifest, and may have removed its pieces.
    await lease.check().catch(async (lost: unknown) => {
      await requests.send({ method: 'DELETE', key });
      throw lost;
    });
  }

  async #putManifest(name: string, key: string, text: string): Promise<void> {
    const { requests, lease } = this.#parts;
    const headers = lease.isSafe ? { 'if-none-match': '*' } : {};
    const body = Buffer.from(text);
    const { status } = await requests.send({ method: 'PUT', key, headers, body, accepted: [412] });
    if (status !== 412) return;
    // An earlier attempt, whose answer was lost, may have written it.
    const found = await requests.send({ key, accepted: [404] });
    if (!found.body.equals(body)) throw new S3Failure(`another backup has the name ${name}`, status);
  }

  async removeManifest(name: string): Promise<void> {
    const { requests, keyOf, lease } = this.#parts;
    await lease.check();
    await requests.send({ method: 'DELETE', key: keyOf(manifestFile(name)) });
  }

  async removePieces(isUnused: (id: string) => boolean): Promise<void> {
    const { requests, keyOf, kept, lease } = this.#parts;
    await lease.check();
    const unused = [...kept.keys()].filter(isUnused);
    for (let at = 0; at < unused.length; at += REMOVED_AT_ONCE) {
      const next = unused.slice(at, at + REMOVED_AT_ONCE);
      await Promise.all(next.map((id) => requests.send({ method: 'DELETE', key: keyOf(pieceFile(id)) })));
      for (const id of next) kept.delete(id);
    }
    // The start of an upload may have been retried after its answer was lost.
    await abortUploads(requests, keyOf('pieces/'));
  }

  async release(): Promise<void> {
    await this.#parts.lease.release();
  }
}
