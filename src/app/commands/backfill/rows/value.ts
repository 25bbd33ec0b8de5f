/** Values of rows from any file, and how they are written into an event without losing a digit. */
import { LosslessNumber, parse } from 'lossless-json';
import { mayLoseDigits } from '../../../../metering/ingest/number-text.ts';

/** A number whose digits all count is a `bigint` or a `LosslessNumber`; a `number` has at most 15 digits. */
export type Value =
  | null
  | string
  | boolean
  | number
  | bigint
  | LosslessNumber
  | readonly Value[]
  | { readonly [member: string]: Value };

/** A row by the names of its columns. */
export type Row = ReadonlyMap<string, Value>;

/** A number by its digits. */
export function exactNumber(text: string): LosslessNumber {
  return new LosslessNumber(text);
}

/** JSON text of the value. */
export function jsonOf(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'string' || typeof value === 'number') return JSON.stringify(value);
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof LosslessNumber) return value.value;
  if (isList(value)) return `[${value.map(jsonOf).join(',')}]`;
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${jsonOf(member)}`);
  return `{${members.join(',')}}`;
}

/** A text or an integer as an id; null if the value is neither. */
export function nameOf(value: Value): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  if (value instanceof LosslessNumber) return /^-?\d+$/.test(value.value) ? value.value : null;
  return null;
}

export function isObject(value: Value): value is { readonly [member: string]: Value } {
  return typeof value === 'object' && value !== null && !isList(value) && !(value instanceof LosslessNumber);
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** Throws `SyntaxError` if the text is not JSON. */
export function parseValue(json: string): Value {
  const value: unknown = mayLoseDigits(json) ? parse(json) : JSON.parse(json);
  return asValue(value);
}

/** JSON has no other values than these. */
function asValue(value: unknown): Value {
  return value as Value;
}
