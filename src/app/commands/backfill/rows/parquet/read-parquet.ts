/**
 * Reads Parquet, one row group after the other and in it some rows at a time: memory holds the compressed columns of
 * one group and the values of the current rows. Columns that the mapping does not name are not read.
 */
import {
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
  type ParquetParsers,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  type RowGroup,
  type SchemaTree,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { messageOf } from '../../../../../core/failures.ts';
import { EXIT, InputFailure } from '../../failure.ts';
import type { InputFile } from '../../files/input-file.ts';
import { checkColumns, columnsOf } from '../columns.ts';
import type { EventWriter } from '../event-of-row.ts';
import { LINE_BYTES_MAX, type Line, lineWithout } from '../line.ts';
import type { Mapping } from '../mapping.ts';
import type { Table } from '../table.ts';
import { jsonOf, type Value } from '../value.ts';
import { type ColumnValue, columnValue, textOf, ValueProblem } from './column-values.ts';

/** The maximum size of these columns, in memory as in the file. */
const ROW_GROUP_BYTES_MAX = 512 * 1024 * 1024;
/** Pages are decoded again for each part of their group, so parts are large if rows are short. */
const ROWS_AT_ONCE_MAX = 50_000;
const BYTES_AT_ONCE = 32 * 1024 * 1024;

interface ParquetFile {
  readonly file: InputFile;
  /** Without the logical types that would change values during decoding. */
  readonly metadata: FileMetaData;
  readonly columns: ReadonlyMap<string, ColumnValue>;
}

export async function* readParquet(
  { file, from, mapping, writer }: Table,
  onRead: (fraction: number) => void,
): AsyncGenerator<readonly Line[]> {
  const parquet = await openParquet(file, mapping);
  const rows = Number(parquet.metadata.num_rows);
  let groupStart = 0;
  for (const [index, group] of parquet.metadata.row_groups.entries()) {
    const groupEnd = groupStart + Number(group.num_rows);
    if (groupEnd > from.line) {
      const within = { start: Math.max(groupStart, from.line), end: groupEnd };
      for await (const lines of readGroup(parquet, { group, index }, within, writer)) {
        onRead((lines.at(-1)?.number ?? 0) / Math.max(1, rows));
        yield lines;
      }
    }
    groupStart = groupEnd;
  }
}

async function openParquet(file: InputFile, mapping: Mapping): Promise<ParquetFile> {
  const metadata = await parquetMetadataAsync(bufferOf(file), { geoparquet: false }).catch(
    (error: unknown) => {
      if (error instanceof InputFailure) throw error;
      throw refusal(file, `its Parquet footer is damaged: ${messageOf(error)}`);
    },
  );
  const { children } = parquetSchema(metadata);
  checkColumns(
    mapping,
    children.map(({ element }) => element.name),
    file.name,
  );
  const wanted = wantedColumns(children, mapping);
  const columns = new Map<string, ColumnValue>();
  for (const node of wanted) {
    const { name } = node.element;
    const value = name === '__proto__' ? 'cannot be called so' : columnValue(node);
    if (columns.has(name)) throw refusal(file, `two of its columns are called ${JSON.stringify(name)}`);
    if (typeof value === 'string') {
      throw refusal(
        file,
        `column ${JSON.stringify(name)} ${value}. Say with --properties which columns are wanted`,
      );
    }
    columns.set(name, value);
  }
  return { file, metadata: { ...metadata, schema: rawSchema(metadata, children) }, columns };
}

function wantedColumns(children: readonly SchemaTree[], mapping: Mapping): readonly SchemaTree[] {
  if (mapping.properties === null) return children;
  const named = columnsOf(mapping).map(([, column]) => column);
  return children.filter(({ element: { name } }) =>
    named.some((column) => column === name || column.startsWith(`${name}.`)),
  );
}

/** Leaves without their logical types, except the keys of maps, which become names of members. */
function rawSchema({ schema }: FileMetaData, children: readonly SchemaTree[]): FileMetaData['schema'] {
  const keys = new Set(children.flatMap(keysWithin).map(({ element }) => element));
  return schema.map((element) => {
    if ((element.num_children ?? 0) > 0 || keys.has(element)) return element;
    const { converted_type: _, logical_type: __, ...raw } = element;
    return raw;
  });
}

function keysWithin(node: SchemaTree): SchemaTree[] {
  const [entry] = node.children;
  const key = node.element.converted_type === 'MAP' ? entry?.children[0] : undefined;
  return [...(key === undefined ? [] : [key]), ...node.children.flatMap(keysWithin)];
}

/** An empty page, with only null values, is a single token in LZ4, which its decoder treats as damage. */
const DECODERS: Compressors = Object.fromEntries(
  Object.entries(compressors).map(([codec, decode]) => [
    codec,
    (page: Uint8Array, length: number) => (length === 0 ? new Uint8Array() : decode(page, length)),
  ]),
);

const PARSERS: Partial<ParquetParsers> = {
  // For INT96, whose column has no other type.
  timestampFromNanoseconds: (nanoseconds) => nanoseconds,
  stringFromBytes(bytes) {
    const name = textOf(bytes);
    if (name === '__proto__') throw new ValueProblem('has a member called __proto__');
    return name;
  },
};

async function* readGroup(
  parquet: ParquetFile,
  { group, index }: { readonly group: RowGroup; readonly index: number },
  within: { readonly start: number; readonly end: number },
  writer: EventWriter,
): AsyncGenerator<Line[]> {
  const columns = [...parquet.columns.keys()];
  const read = group.columns.flatMap(({ meta_data: column }) =>
    column !== undefined && columns.includes(column.path_in_schema[0] ?? '') ? [column] : [],
  );
  const sum = (of: (column: (typeof read)[number]) => bigint) =>
    read.reduce((total, column) => total + Number(of(column)), 0);
  const compressed = sum((column) => column.total_compressed_size);
  if (compressed > ROW_GROUP_BYTES_MAX) {
    throw refusal(
      parquet.file,
      `row group ${index + 1} has ${compressed} bytes, more than ${ROW_GROUP_BYTES_MAX}. Say with --properties which columns are wanted, or write it with smaller row groups`,
    );
  }
  const rowBytes = sum((column) => column.total_uncompressed_size) / Math.max(1, Number(group.num_rows));
  const rowsAtOnce = Math.max(
    1,
    Math.min(ROWS_AT_ONCE_MAX, Math.floor(BYTES_AT_ONCE / Math.max(1, rowBytes))),
  );
  const source = keptRanges(bufferOf(parquet.file));
  for (let start = within.start; start < within.end; start += rowsAtOnce) {
    const end = Math.min(within.end, start + rowsAtOnce);
    const rows = await rowsOf(parquet, source, { rowStart: start, rowEnd: end });
    yield rows.map((row, at) => lineOf(row, parquet.columns, start + at + 1, writer));
  }
}

type RawRow = Readonly<Record<string, unknown>>;

async function rowsOf(
  { file, metadata, columns }: ParquetFile,
  source: AsyncBuffer,
  range: { readonly rowStart: number; readonly rowEnd: number },
): Promise<readonly RawRow[]> {
  const options = {
    file: source,
    metadata,
    compressors: DECODERS,
    utf8: false,
    parsers: PARSERS,
    geoparquet: false,
    ...range,
  };
  try {
    const rows: readonly RawRow[] = await parquetReadObjects({ ...options, columns: [...columns.keys()] });
    if (rows.length !== range.rowEnd - range.rowStart) throw new Error('rows are missing');
    return rows;
  } catch (error) {
    if (error instanceof InputFailure) throw error;
    // The failing column is found by reading each of them separately.
    for (const column of columns.keys()) {
      const failure = await parquetReadObjects({ ...options, columns: [column] }).then(
        () => null,
        (reason: unknown) => ({ reason }),
      );
      if (failure === null) continue;
      throw new InputFailure(
        `${file.name}: column ${JSON.stringify(column)} cannot be read any further after row ${range.rowStart}: ${messageOf(failure.reason)}`,
      );
    }
    throw error;
  }
}

function lineOf(
  raw: RawRow,
  columns: ReadonlyMap<string, ColumnValue>,
  number: number,
  writer: EventWriter,
): Line {
  const row = new Map<string, Value>();
  const source = () => jsonOf(Object.fromEntries(row));
  for (const [name, value] of columns) {
    try {
      row.set(name, value(raw[name]));
    } catch (error) {
      if (!(error instanceof ValueProblem)) throw error;
      return lineWithout(number, number, `column ${JSON.stringify(name)}: ${error.message}`, source);
    }
  }
  const written = writer.write(row);
  if (written === 'left-out') return lineWithout(number, number, null, source);
  if ('problem' in written) return lineWithout(number, number, written.problem, source);
  const bytes = Buffer.from(written.json);
  return { number, bytes: bytes.length > LINE_BYTES_MAX ? null : bytes, end: number, source };
}

function bufferOf(file: InputFile): AsyncBuffer {
  return {
    byteLength: file.bytes,
    async slice(start, end = file.bytes) {
      const bytes = await file.read(start, Math.min(end, file.bytes));
      const copy = new ArrayBuffer(bytes.length);
      Buffer.from(copy).set(bytes);
      return copy;
    },
  };
}

/** Reads each range once: the parts of a row group are decoded from the same bytes. */
function keptRanges(source: AsyncBuffer): AsyncBuffer {
  const kept = new Map<string, Promise<ArrayBuffer>>();
  return {
    byteLength: source.byteLength,
    slice(start, end) {
      const key = `${start}-${end}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      const read = Promise.resolve(source.slice(start, end));
      kept.set(key, read);
      read.catch(() => kept.delete(key));
      return read;
    },
  };
}

function refusal(file: InputFile, problem: string): InputFailure {
  return new InputFailure(`cannot read ${file.name}: ${problem}`, EXIT.usage);
}
