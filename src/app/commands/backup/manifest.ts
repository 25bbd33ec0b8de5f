/** The content of a backup: a JSON document with its own checksum, which names every piece by its SHA-256. */
import { createHash } from 'node:crypto';
import { z } from 'zod';

const count = z.int().nonnegative();
const pieceId = z.string().regex(/^[0-9a-f]{64}$/);
/** Inside of a directory, and of no other. */
const innerPath = z.string().refine((path) => !path.startsWith('/') && !path.split('/').includes('..'));

const piece = z.object({ id: pieceId, bytes: count });
export type Piece = z.infer<typeof piece>;

const tablePart = z.object({
  name: innerPath,
  rows: count,
  /** The SHA-256 of the part's own list of checksums: with the name it says which content the part has. */
  content: pieceId,
  /** One after the other in the piece, in this order. */
  files: z.array(z.object({ path: innerPath, bytes: count })),
  piece,
});
export type TablePart = z.infer<typeof tablePart>;

const migration = z.object({ name: z.string(), checksum: z.string() });

const manifestSchema = z.object({
  /** 2: of a ClickHouse server, whose files are elsewhere. Versions that know 1 alone refuse it. */
  format: z.union([z.literal(1), z.literal(2)]),
  /** Also that of its file, in the order of time. */
  name: z.string(),
  /** Of the program that created it. */
  version: z.string(),
  /** Everything that was acknowledged before is in it: epoch milliseconds. */
  moment: z.int(),
  postgres: z.object({
    migrations: z.array(migration),
    tables: z.array(
      z.object({
        schema: z.string(),
        name: z.string(),
        columns: z.array(z.string()),
        rows: count,
        pieces: z.array(piece),
      }),
    ),
    sequences: z.array(z.object({ schema: z.string(), name: z.string(), lastValue: z.string().nullable() })),
  }),
  clickhouse: z.object({
    /** The file of definitions, as the embedded engine keeps it. Absent in format 2. */
    definitions: piece.optional(),
    tables: z.array(z.object({ name: z.string(), id: z.uuid(), rows: count, parts: z.array(tablePart) })),
    /** Of format 2: the backup that the server has written, and that whose files it shares. */
    server: z
      .object({ name: innerPath, base: innerPath.nullable(), database: z.string(), bytes: count })
      .optional(),
  }),
  /** Other files of DATA_DIR. */
  files: z.array(z.object({ path: innerPath, piece })),
});
export type Manifest = z.infer<typeof manifestSchema>;

const documentSchema = z.object({ sha256: z.string(), manifest: z.unknown() });

export function writeManifest(manifest: Manifest): string {
  return `${JSON.stringify({ sha256: sha256(JSON.stringify(manifest)), manifest })}\n`;
}

/** Null where the text was changed or cut, or is of a format that this version does not know. */
export function readManifest(text: string): Manifest | null {
  try {
    const { sha256: stated, manifest } = documentSchema.parse(JSON.parse(text));
    return sha256(JSON.stringify(manifest)) === stated ? manifestSchema.parse(manifest) : null;
  } catch {
    return null;
  }
}

/** Every piece once. */
export function piecesOf({ postgres, clickhouse, files }: Manifest): Piece[] {
  const pieces = [
    ...postgres.tables.flatMap((table) => table.pieces),
    ...(clickhouse.definitions === undefined ? [] : [clickhouse.definitions]),
    ...clickhouse.tables.flatMap(({ parts }) => parts.map((part) => part.piece)),
    ...files.map((file) => file.piece),
  ];
  return [...new Map(pieces.map((each) => [each.id, each])).values()];
}

/** Of all pieces, and of the files of a server. */
export function bytesOf(manifest: Manifest): number {
  const ofServer = manifest.clickhouse.server?.bytes ?? 0;
  return piecesOf(manifest).reduce((sum, { bytes }) => sum + bytes, ofServer);
}

export function rowsOfTable({ postgres }: Manifest, name: string): number {
  return postgres.tables.find((table) => table.schema === 'public' && table.name === name)?.rows ?? 0;
}

/** Every stored row, also copies of one event that no merge has joined yet. */
export function storedRows({ clickhouse }: Manifest, name: string): number {
  return clickhouse.tables.find((table) => table.name === name)?.rows ?? 0;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
