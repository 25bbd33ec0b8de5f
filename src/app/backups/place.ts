/**
 * Where backups lie: pieces that are named by their SHA-256, and a manifest for each backup. A directory and a prefix of an
 * S3-compatible store have the same names and bytes, so that one can be copied into the other.
 */
import type { Piece } from './manifest.ts';

export interface BackupPlace {
  /** As in messages. */
  readonly name: string;
  /** Names of the manifests' files, in any order. None where there is no such place. */
  manifests(): Promise<string[]>;
  /** Null where there is no such file. Throws a `CommandFailure` where it cannot be read. */
  text(path: string): Promise<string | null>;
  /** As many bytes as the file has, perhaps others than it should. Throws a `CommandFailure`. */
  bytesOf(piece: Piece): AsyncIterable<Buffer>;
  /** In full, for messages. */
  pathOf(path: string): string;
  /**
   * Makes the place where there is none, and keeps other backups away where it can. Throws a `CommandFailure` where it has
   * other things in it, or backups of other stores.
   */
  take(stores: string): Promise<TakenPlace>;
}

/** Bytes that can be read more than once, and are the same each time. */
export type PieceSource = () => AsyncIterable<Buffer> | Iterable<Buffer>;

/** Hears of every chunk that was read. */
export type OnChunk = (bytes: number) => Promise<void>;

export interface AddedPiece {
  readonly piece: Piece;
  /** False: it was there. */
  readonly isNew: boolean;
}

/** A place that one backup writes into. */
export interface TakenPlace {
  /** For the operator, or null. */
  readonly warning: string | null;
  /** How many bytes it can take; null: not known, or without a limit. */
  freeBytes(): Promise<number | null>;
  /** Whether the piece is there, by its size. */
  has(piece: Piece): Promise<boolean>;
  /** The piece has its name when it is whole and kept. */
  addPiece(source: PieceSource, onChunk: OnChunk): Promise<AddedPiece>;
  /** From then on the backup is there. All its pieces have to be. */
  addManifest(name: string, text: string): Promise<void>;
  removeManifest(name: string): Promise<void>;
  removePieces(isUnused: (id: string) => boolean): Promise<void>;
  /** Lets others in. Does not throw. */
  release(): Promise<void>;
}

/** It has no secret of the stores: their number, and the format. */
export const IDENTITY = 'tallyhouse-backups.json';

export function manifestFile(name: string): string {
  return `backups/${name}.json`;
}

export function pieceFile(id: string): string {
  return `pieces/${id.slice(0, 2)}/${id}`;
}
