/** The content of a backup: a JSON document with its own checksum, which references every piece by its SHA-256. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { jsonOrNull } from '../../core/json-or-null.ts';

/** Up to 2^53 − 1, the exact integers of JSON. */
const count = z.int().nonnegative();
const pieceId = z.string().regex(/^[0-9a-f]{64}$/, 'is no SHA-256');
/** Names as in the stores themselves: they are used in statements, and parts and tables also in paths. */
const identifier = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'is no name of a table or column');
const partName = z.string().regex(/^[0-9A-Za-z]{1,64}(_\d{1,19}){3,4}$/, 'is no name of a part');
const partFile = z
  .string()
  .regex(/^(?!\.)[\w.%@+=~-]{1,255}(\/(?!\.)[\w.%@+=~-]{1,255})?$/, 'is no path of a file inside of a part');
const backupName = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/, 'is no name of a backup');
const uuid = z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'is no UUID');
/** Printed to a terminal, so without control characters. */
const words = z.string().regex(/^[ -~]{0,300}$/, 'has other characters than printable ones');
const bigintText = z.string().regex(/^-?\d{1,19}$/, 'is no whole number');

/** Far more than a service has. */
const TABLES_MAX = 1_000;
const COLUMNS_MAX = 1_600;
const PARTS_MAX = 200_000;
const FILES_OF_PART_MAX = 20_000;
const PIECES_OF_TABLE_MAX = 4_000_000;
const MIGRATIONS_MAX = 10_000;
/** The end of the year 9999, the last one with a valid name. */
const MOMENT_MAX = Date.UTC(9999, 11, 31);

/** Files of DATA_DIR besides those of the stores. A restore writes no others. */
const OTHER_FILES = ['api-token'] as const;
const OTHER_FILE_BYTES_MAX = 1_000_000;

const piece = z.object({ id: pieceId, bytes: count });
export type Piece = z.infer<typeof piece>;

/** Whether a file with this name can be a piece. */
export function isPieceId(name: string): boolean {
  return pieceId.safeParse(name).success;
}

const tablePart = z.object({
  name: partName,
  rows: count,
  /** The SHA-256 of the part's own list of checksums: with the name it identifies the content of the part. */
  content: pieceId,
  /** Consecutive in the piece, in this order. */
  files: z.array(z.object({ path: partFile, bytes: count })).max(FILES_OF_PART_MAX),
  piece,
});
export type TablePart = z.infer<typeof tablePart>;

const migration = z.object({ name: words, checksum: words });

const rowTable = z.object({
  schema: z.enum(['public', 'drizzle']),
  name: identifier,
  columns: z.array(identifier).max(COLUMNS_MAX),
  rows: count,
  pieces: z.array(piece).max(PIECES_OF_TABLE_MAX),
});
export type RowTable = z.infer<typeof rowTable>;

const partTable = z.object({
  name: identifier,
  id: uuid,
  rows: count,
  parts: z.array(tablePart).max(PARTS_MAX),
});

/** The content is data from anyone with write access to the place: a restore uses only what these schemas accept. */
const manifestSchema = z.object({
  /** 2: for a ClickHouse server, whose files are elsewhere. Versions that only know 1 refuse it. */
  format: z.union([z.literal(1), z.literal(2)]),
  /** Also the name of its file; sorts by time. */
  name: backupName,
  /** The version of the program that created it. */
  version: words,
  /** Everything acknowledged before this moment is included: epoch milliseconds. */
  moment: z.int().min(0).max(MOMENT_MAX),
  postgres: z.object({
    migrations: z.array(migration).max(MIGRATIONS_MAX),
    tables: z.array(rowTable).max(TABLES_MAX),
    sequences: z
      .array(
        z.object({
          schema: z.enum(['public', 'drizzle']),
          name: identifier,
          lastValue: bigintText.nullable(),
        }),
      )
      .max(TABLES_MAX),
  }),
  clickhouse: z.object({
    /** The file of definitions of the embedded engine. Absent in format 2. */
    definitions: piece.optional(),
    tables: z.array(partTable).max(TABLES_MAX),
    /** In format 2: the backup written by the server, and the one whose files it shares. */
    server: z
      .object({ name: backupName, base: backupName.nullable(), database: identifier, bytes: count })
      .optional(),
  }),
  /** Other files of DATA_DIR. */
  files: z.array(z.object({ path: z.enum(OTHER_FILES), piece })).max(OTHER_FILES.length),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** A larger one is refused, so that reading it does not take all memory. */
export const MANIFEST_BYTES_MAX = 256 * 1024 * 1024;

const documentSchema = z.object({ sha256: z.string(), manifest: z.unknown() });

export function writeManifest(manifest: Manifest): string {
  return `${JSON.stringify({ sha256: sha256(JSON.stringify(manifest)), manifest })}\n`;
}

/** The text of a manifest is invalid. The message follows the name of its file. */
export class ManifestProblem extends Error {
  override readonly name = 'ManifestProblem';
}

/** Throws a `ManifestProblem` if the text was changed or cut, or contains members that this version does not write. */
export function readManifest(text: string): Manifest {
  const document = documentSchema.safeParse(jsonOrNull(text));
  if (!document.success || sha256(JSON.stringify(document.data.manifest)) !== document.data.sha256)
    throw new ManifestProblem('is not what was written');
  const read = manifestSchema.safeParse(document.data.manifest);
  if (read.success) {
    const problem = contradictionIn(read.data);
    if (problem !== null) throw new ManifestProblem(problem);
    return read.data;
  }
  const [issue] = read.error.issues;
  const member = issue?.path.map(String).join('.') ?? '';
  throw new ManifestProblem(`${member === '' ? '' : `has ${member}, which `}${issue?.message}`.slice(0, 300));
}

/**
 * Members that are valid separately and contradict each other: the message follows the name of the file. Null: none.
 */
function contradictionIn({ format, name, moment, postgres, clickhouse, files }: Manifest): string | null {
  const { server, tables } = clickhouse;
  if (new Date(moment).toISOString().replaceAll(':', '-') !== name) return 'has a moment other than its name';
  if (files.some(({ piece }) => piece.bytes > OTHER_FILE_BYTES_MAX)) return 'has a file that is too large';
  const content = { postgres, clickhouse, files };
  const ofFormat = format === 2 ? wrongOfServer(name, content) : wrongTable(tables);
  const isOfServer = format === 2;
  const isMixed =
    (server !== undefined) !== isOfServer || (clickhouse.definitions === undefined) !== isOfServer;
  if (isMixed) return 'has members of another format';
  return ofFormat ?? wrongSize(content) ?? repeatedName(content);
}

function wrongOfServer(name: string, { clickhouse: { server, tables }, files }: Content): string | null {
  if (files.length > 0 || tables.some(({ parts }) => parts.length > 0))
    return 'has parts of an embedded ClickHouse, and is of a server';
  return server?.name === name ? null : 'names another backup of the server';
}

function wrongSize(content: Content): string | null {
  const sizes = new Map<string, number>();
  let sum = content.clickhouse.server?.bytes ?? 0;
  for (const { id, bytes } of allPieces(content)) {
    const known = sizes.get(id);
    if (known === undefined) sum += bytes;
    else if (known !== bytes) return `has two sizes for the piece ${id}`;
    sizes.set(id, bytes);
  }
  return Number.isSafeInteger(sum) ? null : 'has more bytes than there can be';
}

type Content = Pick<Manifest, 'postgres' | 'clickhouse' | 'files'>;

function repeatedName({ postgres, clickhouse, files }: Content): string | null {
  const lists = [
    postgres.tables.map(({ schema, name }) => `table ${schema}.${name}`),
    postgres.sequences.map(({ schema, name }) => `sequence ${schema}.${name}`),
    ...postgres.tables.map(({ name, columns }) => columns.map((column) => `column ${name}.${column}`)),
    clickhouse.tables.map(({ name }) => `table ${name}`),
    clickhouse.tables.map(({ id }) => `table ${id}`),
    ...clickhouse.tables.map(({ name, parts }) => parts.map((part) => `part ${name} ${part.name}`)),
    ...clickhouse.tables.flatMap(({ parts }) => parts.map(pathsOf)),
    files.map(({ path }) => path),
  ];
  for (const names of lists) {
    const seen = new Set<string>();
    for (const name of names) {
      if (seen.has(name)) return `has ${name} twice`;
      seen.add(name);
    }
  }
  return null;
}

/** The paths of its files, and of the directories containing them: no name is both. */
function pathsOf({ files }: TablePart): string[] {
  const paths = files.map(({ path }) => path);
  const directories = paths.flatMap((path) => path.split('/').slice(0, -1));
  return [...paths, ...new Set(directories)];
}

function wrongTable(tables: Manifest['clickhouse']['tables']): string | null {
  for (const { name, rows, parts } of tables) {
    if (parts.reduce((sum, part) => sum + part.rows, 0) !== rows)
      return `has other rows of ${name} than its parts`;
    const cut = parts.find(
      ({ files, piece }) => files.reduce((sum, { bytes }) => sum + bytes, 0) !== piece.bytes,
    );
    if (cut !== undefined) return `has other sizes of files of ${name} than its part ${cut.name}`;
  }
  return null;
}

/** The pieces without duplicates. */
export function piecesOf(manifest: Content): Piece[] {
  return [...new Map(allPieces(manifest).map((each) => [each.id, each])).values()];
}

function allPieces({ postgres, clickhouse, files }: Content): Piece[] {
  return [
    ...postgres.tables.flatMap((table) => table.pieces),
    ...(clickhouse.definitions === undefined ? [] : [clickhouse.definitions]),
    ...clickhouse.tables.flatMap(({ parts }) => parts.map((part) => part.piece)),
    ...files.map((file) => file.piece),
  ];
}

/** The size of all pieces, and of the files of a server. */
export function bytesOf(manifest: Manifest): number {
  const ofServer = manifest.clickhouse.server?.bytes ?? 0;
  return piecesOf(manifest).reduce((sum, { bytes }) => sum + bytes, ofServer);
}

export function rowsOfTable({ postgres }: Manifest, name: string): number {
  return postgres.tables.find((table) => table.schema === 'public' && table.name === name)?.rows ?? 0;
}

/** Every stored row, including copies of events that are not merged yet. */
export function storedRows({ clickhouse }: Manifest, name: string): number {
  return clickhouse.tables.find((table) => table.name === name)?.rows ?? 0;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
