/**
 * Splits parameters that are too long for a server, which refuses a form field of more than 128 KiB
 * (`http_max_field_value_size`, which only its own configuration can change), while an invoice run names tens of
 * thousands of customers. A long array is sent in pieces, which the query concatenates; ClickHouse folds them into one
 * constant before it selects the data to read.
 */
import { assert } from '../../core/errors.ts';
import type { QueryParams } from './clickhouse.ts';
import { parameterTexts } from './clickhouse-parameters.ts';

/** Below the limit of a field, with room for brackets. */
const PIECE_BYTES_MAX = 120_000;
/** A server accepts 1,000 fields (`http_max_fields`); the query is one of them. */
const FIELDS_MAX = 999;

export interface StatementWithParams {
  readonly sql: string;
  readonly params: QueryParams;
}

/** The same statement without parameters that are too long for a field. */
export function inPieces({ sql, params }: StatementWithParams): StatementWithParams {
  let text = sql;
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(params)) {
    if (!Array.isArray(value) || bytesOf(value) <= PIECE_BYTES_MAX) {
      fields[name] = value;
      continue;
    }
    const pieces = split(value);
    const names = pieces.map((_, index) => `${name}__${index}`);
    for (const [index, pieceName] of names.entries()) fields[pieceName] = pieces[index];
    text = text.replaceAll(
      new RegExp(`\\{\\s*${name}\\s*:([^{}]+)\\}`, 'g'),
      (_, type: string) => `arrayConcat(${names.map((piece) => `{${piece}:${type}}`).join(', ')})`,
    );
  }
  const count = Object.keys(fields).length;
  assert(count <= FIELDS_MAX, `${count} parameters are more than a server takes`);
  return { sql: text, params: fields };
}

function split(values: readonly unknown[]): unknown[][] {
  const pieces: unknown[][] = [];
  let piece: unknown[] = [];
  let bytes = 0;
  for (const value of values) {
    const more = bytesOf([value]);
    if (bytes + more > PIECE_BYTES_MAX && piece.length > 0) {
      pieces.push(piece);
      piece = [];
      bytes = 0;
    }
    piece.push(value);
    bytes += more;
  }
  return [...pieces, piece];
}

function bytesOf(value: readonly unknown[]): number {
  const [parameter] = parameterTexts({ value });
  return Buffer.byteLength(parameter?.[1] ?? '');
}
