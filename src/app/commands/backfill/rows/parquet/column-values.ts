/**
 * The values of a column of Parquet, from its raw numbers and bytes, so that no digit is lost: decimals by their
 * digits, 64-bit integers, times to the nanosecond. The table is in docs/how-to/backfill.md.
 */
import type { SchemaTree } from 'hyparquet';
import { TimeProblem, textOfNanoseconds } from '../timestamp.ts';
import { exactNumber, type Value } from '../value.ts';

/** Throws `ValueProblem` if events have no such value. */
export type ColumnValue = (raw: unknown) => Value;

export class ValueProblem extends Error {}

type Element = SchemaTree['element'];
type Unit = 'MILLIS' | 'MICROS' | 'NANOS';

const DECIMALS: Readonly<Record<Unit, number>> = { MILLIS: 3, MICROS: 6, NANOS: 9 };

/** The reader of a whole column. A text: why the column cannot be read. */
export function columnValue(node: SchemaTree): ColumnValue | string {
  const read = valueReader(node);
  if (typeof read === 'string' || node.children.length > 0) return read;
  return (raw) => {
    // An absent value is null here, and never undefined.
    if (raw === undefined) throw new ValueProblem('has no value in the file, which is damaged');
    return read(raw);
  };
}

function valueReader(node: SchemaTree): ColumnValue | string {
  const { element } = node;
  if (element.logical_type?.type === 'VARIANT') return 'is of type VARIANT';
  const single = node.children.length === 0 ? leafValue(element) : nestedValue(node);
  if (typeof single === 'string' || element.repetition_type !== 'REPEATED') return orNull(single);
  return orNull((raw) => listOf(raw).map(single));
}

function orNull(read: ColumnValue | string): ColumnValue | string {
  return typeof read === 'string' ? read : (raw) => (raw === null || raw === undefined ? null : read(raw));
}

function nestedValue(node: SchemaTree): ColumnValue | string {
  const [inner] = node.children;
  if (node.element.converted_type === 'LIST' && inner !== undefined) {
    const element = inner.children.length === 1 ? inner.children[0] : inner;
    return element === undefined ? 'has an empty list' : listValue(element, element === inner);
  }
  if (node.element.converted_type === 'MAP' && inner !== undefined) return mapValue(inner);
  return structValue(node.children);
}

/** `isRepeated`: the element itself is repeated, as in old files. */
function listValue(element: SchemaTree, isRepeated: boolean): ColumnValue | string {
  const single = isRepeated
    ? { ...element, element: { ...element.element, repetition_type: 'OPTIONAL' as const } }
    : element;
  const value = valueReader(single);
  return typeof value === 'string' ? value : (raw) => listOf(raw).map(value);
}

function mapValue(entry: SchemaTree): ColumnValue | string {
  const [, ofValue] = entry.children;
  const value = ofValue === undefined ? 'has a map without values' : valueReader(ofValue);
  if (typeof value === 'string') return value;
  return (raw) =>
    Object.fromEntries(Object.entries(objectOf(raw)).map(([name, member]) => [name, value(member)]));
}

function structValue(children: readonly SchemaTree[]): ColumnValue | string {
  const members: [string, ColumnValue][] = [];
  for (const child of children) {
    const value = valueReader(child);
    if (typeof value === 'string') return value;
    if (child.element.name === '__proto__') return 'has a member called __proto__';
    members.push([child.element.name, value]);
  }
  return (raw) => Object.fromEntries(members.map(([name, value]) => [name, value(objectOf(raw)[name])]));
}

function listOf(raw: unknown): unknown[] {
  if (!Array.isArray(raw)) throw new ValueProblem('is not a list');
  return raw;
}

function objectOf(raw: unknown): Readonly<Record<string, unknown>> {
  if (typeof raw !== 'object' || raw === null) throw new ValueProblem('is not an object');
  return { ...raw };
}

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one case for each type of a column, as in the format.
function leafValue(element: Element): ColumnValue | string {
  const { type, converted_type: converted, logical_type: logical } = element;
  const kind = logical?.type ?? converted;
  if (kind === 'BSON' || kind === 'INTERVAL' || kind === 'GEOMETRY' || kind === 'GEOGRAPHY')
    return `is of type ${kind}`;
  if (kind === 'DECIMAL') return (raw) => exactNumber(decimalText(wholeNumber(raw), element.scale ?? 0));
  if (kind === 'DATE') return (raw) => dateText(wholeNumber(raw));
  if (logical?.type === 'TIME') return (raw) => timeOfDay(wholeNumber(raw), DECIMALS[logical.unit]);
  if (converted === 'TIME_MILLIS' || converted === 'TIME_MICROS') {
    return (raw) => timeOfDay(wholeNumber(raw), converted === 'TIME_MILLIS' ? 3 : 6);
  }
  if (logical?.type === 'TIMESTAMP') return timestampValue(DECIMALS[logical.unit], logical.isAdjustedToUTC);
  if (converted === 'TIMESTAMP_MILLIS') return timestampValue(3, true);
  if (converted === 'TIMESTAMP_MICROS') return timestampValue(6, true);
  if (type === 'INT96') return (raw) => inYears(() => textOfNanoseconds(wholeNumber(raw)));
  if (kind === 'UUID') return (raw) => uuidText(bytesOf(raw));
  if (kind === 'FLOAT16') return (raw) => finite(halfFloat(bytesOf(raw)));
  if (type === 'INT32' || type === 'INT64') return integerValue(element);
  if (type === 'FLOAT') return (raw) => exactNumber(singleFloatText(numberOf(raw)));
  if (type === 'DOUBLE') return (raw) => finite(numberOf(raw));
  if (type === 'BOOLEAN') return (raw) => raw === true;
  if (type === 'BYTE_ARRAY') return (raw) => textOf(bytesOf(raw));
  return `is of type ${type ?? 'unknown'} without saying what its bytes are`;
}

function integerValue({ type, converted_type: converted, logical_type: logical }: Element): ColumnValue {
  const isUnsigned =
    logical?.type === 'INTEGER' ? !logical.isSigned : converted?.startsWith('UINT_') === true;
  const bits = type === 'INT64' ? 64 : 32;
  return (raw) => (isUnsigned ? BigInt.asUintN(bits, wholeNumber(raw)) : wholeNumber(raw));
}

function timestampValue(decimals: number, isUtc: boolean): ColumnValue {
  const factor = 10n ** BigInt(9 - decimals);
  return (raw) => {
    const text = inYears(() => textOfNanoseconds(wholeNumber(raw) * factor));
    return isUtc ? text : text.slice(0, -1);
  };
}

function inYears(read: () => string): string {
  try {
    return read();
  } catch (error) {
    throw error instanceof TimeProblem ? new ValueProblem('is outside the years 0 to 9999') : error;
  }
}

/** The value of an integer, or of its big-endian bytes. */
function wholeNumber(raw: unknown): bigint {
  if (typeof raw === 'bigint') return raw;
  if (typeof raw === 'number') return BigInt(raw);
  const bytes = bytesOf(raw);
  if (bytes.length === 0) return 0n;
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`));
}

function decimalText(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? '-' : '';
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const point = digits.length - scale;
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

const DAY_NANOSECONDS = 86_400_000_000_000n;

function dateText(days: bigint): string {
  return inYears(() => textOfNanoseconds(days * DAY_NANOSECONDS)).slice(0, 10);
}

function timeOfDay(count: bigint, decimals: number): string {
  const nanoseconds = count * 10n ** BigInt(9 - decimals);
  if (nanoseconds < 0n || nanoseconds >= DAY_NANOSECONDS) throw new ValueProblem('is no time of a day');
  return textOfNanoseconds(nanoseconds).slice(11, -1);
}

function uuidText(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new ValueProblem(`is ${value}, which no event can have`);
  return value;
}

/** The fewest digits that distinguish the number from all other 32-bit floats. */
function singleFloatText(value: number): string {
  finite(value);
  for (let digits = 1; digits < 9; digits += 1) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return text;
  }
  return value.toPrecision(9);
}

function halfFloat(bytes: Buffer): number {
  const bits = bytes.readUInt16LE();
  const sign = bits >> 15 === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0
    ? sign * 2 ** -14 * (fraction / 1024)
    : sign * 2 ** (exponent - 15) * (1 + fraction / 1024);
}

function numberOf(raw: unknown): number {
  if (typeof raw !== 'number') throw new ValueProblem('is not a number');
  return raw;
}

function bytesOf(raw: unknown): Buffer {
  if (!(raw instanceof Uint8Array)) throw new ValueProblem('has no bytes');
  return Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function textOf(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new ValueProblem('is not valid UTF-8');
  }
}
