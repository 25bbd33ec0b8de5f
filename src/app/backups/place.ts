/**
 * The location of backups: pieces named by their SHA-256, and a manifest for each backup. A directory and a prefix of
 * an S3-compatible store have the same names and bytes, so that one can be copied to the other.
 */
import type { Piece } from './manifest.ts';

export interface BackupPlace {
  /** The name used in messages. */
  readonly name: string;
  /** Names of the manifest files, in any order. Empty if the place does not exist. */
  manifests(): Promise<string[]>;
  /** Null if the file does not exist. Throws a `CommandFailure` if it cannot be read. */
  text(path: string): Promise<string | null>;
  /** As many bytes as the file has; they may differ from the expected ones. Throws a `CommandFailure`. */
  bytesOf(piece: Piece): AsyncIterable<Buffer>;
  /** The full path, for messages. */
  pathOf(path: string): string;
  /**
   * Creates the place if needed, and locks out other backups if possible. Throws a `CommandFailure` if it contains
   * other things, or backups of other stores.
   */
  take(stores: string): Promise<TakenPlace>;
}

/** Bytes that can be read repeatedly, with the same result. */
export type PieceSource = () => AsyncIterable<Buffer> | Iterable<Buffer>;

/** Called for every chunk that was read. */
export type OnChunk = (bytes: number) => Promise<void>;

export interface AddedPiece {
  readonly piece: Piece;
  /** False: it existed already. */
  readonly isNew: boolean;
}

/** A place that one backup writes to. */
export interface TakenPlace {
  /** For the operator, or null. */
  readonly warning: string | null;
  /** The bytes available; null: unknown, or unlimited. */
  freeBytes(): Promise<number | null>;
  /** Whether the piece exists, by its size. */
  has(piece: Piece): Promise<boolean>;
  /** The piece gets its name when it is complete and durable. */
  addPiece(source: PieceSource, onChunk: OnChunk): Promise<AddedPiece>;
  /** Completes the backup. All its pieces must exist. */
  addManifest(name: string, text: string): Promise<void>;
  removeManifest(name: string): Promise<void>;
  removePieces(isUnused: (id: string) => boolean): Promise<void>;
  /** Releases the lock. Does not throw. */
  release(): Promise<void>;
}

/** Contains no secret of the stores: their id, and the format. */
export const IDENTITY = 'tallyhouse-backups.json';

export function manifestFile(name: string): string {
  return `backups/${name}.json`;
}

export function pieceFile(id: string): string {
  return `pieces/${id.slice(0, 2)}/${id}`;
}
