/**
 * Parses the spans of an `ExportTraceServiceRequest` in OTLP's JSON: ids in hexadecimal, 64-bit integers as texts or
 * numbers, unknown members skipped, null equal to absent. Only members that billing needs are read.
 */
import { isUtf8 } from 'node:buffer';
import { Refusal } from '../../core/errors.ts';
import { extractNumbers, mayLoseDigits, numberText, plainDecimal } from '../ingest/number-text.ts';
import { isObject } from '../ingest/property-text.ts';
import { doubleValue, integerValue, isInt64 } from './attribute-number.ts';
import {
  type Attributes,
  type AttributeValue,
  OTHER_VALUE,
  requireFewSpans,
  type Span,
  type SpanScope,
  STATUS_CODE_ERROR,
  STATUS_CODE_ERROR_NAME,
  type WantedAttributes,
} from './span.ts';

type JsonObject = Readonly<Record<string, unknown>>;

interface Reading {
  readonly wanted: WantedAttributes;
  /** Texts of the numbers of the body, if a double might not represent one of them. */
  readonly numbers: readonly string[] | null;
}

/** The spans in the order of the body. Refuses (`invalid`) another body, and too many spans. */
export function readJsonSpans(body: Buffer, wanted: WantedAttributes): Span[] {
  const { json, numbers } = parsed(body);
  requireSpans(json);
  const reading = { wanted, numbers };
  const spans: Span[] = [];
  for (const [group, path] of objectsOf(objectAt(json, 'body'), 'resourceSpans', '')) {
    const resource = attributesOf(member(group, 'resource', path), `${path}.resource`, reading);
    for (const [scopeSpans, scopePath] of objectsOf(group, 'scopeSpans', path)) {
      const scope = readScope(member(scopeSpans, 'scope', scopePath), `${scopePath}.scope`);
      for (const [span, spanPath] of objectsOf(scopeSpans, 'spans', scopePath)) {
        spans.push(readSpan(span, spanPath, { resource, scope }, reading));
        requireFewSpans(spans.length);
      }
    }
  }
  return spans;
}

/** Gateways push metrics to the same address: these are sums over intervals and do not distinguish calls. */
function requireSpans(json: unknown): void {
  if (!isObject(json) || json.resourceSpans !== undefined) return;
  const others = ['resourceMetrics', 'resourceLogs'].find((name) => json[name] !== undefined);
  if (others === undefined) return;
  const what =
    others === 'resourceMetrics' ? 'these are sums, which have no calls to bill' : 'these are logs';
  throw refused(others, `${what}: send spans (resourceSpans)`);
}

function parsed(body: Buffer): { json: unknown; numbers: readonly string[] | null } {
  if (!isUtf8(body)) throw new Refusal('invalid', 'body is not valid UTF-8');
  const text = body.toString('utf8');
  const json = parse(text);
  if (!mayLoseDigits(text)) return { json, numbers: null };
  const exact = extractNumbers(text);
  return { json: parse(exact.json), numbers: exact.numbers };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal('invalid', 'body is not valid JSON');
  }
}

function readScope(scope: JsonObject, path: string): SpanScope {
  return { name: textAt(scope, 'name', path), version: textAt(scope, 'version', path) };
}

function readSpan(
  span: JsonObject,
  path: string,
  origin: Pick<Span, 'resource' | 'scope'>,
  reading: Reading,
): Span {
  return {
    traceId: textAt(span, 'traceId', path).toLowerCase(),
    spanId: textAt(span, 'spanId', path).toLowerCase(),
    parentSpanId: textAt(span, 'parentSpanId', path).toLowerCase(),
    name: textAt(span, 'name', path),
    startTimeUnixNano: nanosecondsAt(span, 'startTimeUnixNano', path, reading),
    endTimeUnixNano: nanosecondsAt(span, 'endTimeUnixNano', path, reading),
    isFailed: hasFailed(member(span, 'status', path), `${path}.status`, reading),
    attributes: attributesOf(span, path, reading),
    ...origin,
  };
}

function nanosecondsAt(span: JsonObject, name: string, path: string, reading: Reading): bigint {
  const value = span[name];
  if (value === undefined || value === null) return 0n;
  const nanoseconds = wholeNumber(value, reading);
  if (nanoseconds === null || nanoseconds < 0n || nanoseconds >= 2n ** 64n) {
    throw refused(`${path}.${name}`, 'must be a whole number of nanoseconds');
  }
  return nanoseconds;
}

function hasFailed({ code }: JsonObject, path: string, reading: Reading): boolean {
  if (code === undefined || code === null) return false;
  if (typeof code === 'string') return code === STATUS_CODE_ERROR_NAME;
  const number = wholeNumber(code, reading);
  if (number === null) throw refused(`${path}.code`, 'must be an integer');
  return number === BigInt(STATUS_CODE_ERROR);
}

function attributesOf(owner: JsonObject, path: string, reading: Reading): Attributes {
  const attributes = new Map<string, AttributeValue>();
  for (const [attribute, place] of objectsOf(owner, 'attributes', path)) {
    const name = textAt(attribute, 'key', place);
    if (!reading.wanted.has(name)) continue;
    attributes.set(name, readValue(member(attribute, 'value', place), `${place}.value`, reading));
  }
  return attributes;
}

const VALUE_MEMBERS = [
  'stringValue',
  'boolValue',
  'intValue',
  'doubleValue',
  'arrayValue',
  'kvlistValue',
  'bytesValue',
] as const;

function readValue(value: JsonObject, path: string, reading: Reading): AttributeValue {
  const [name, second] = VALUE_MEMBERS.filter((one) => value[one] !== undefined && value[one] !== null);
  if (second !== undefined) throw refused(path, 'must have one value');
  if (name === 'stringValue') return { kind: 'text', text: textAt(value, name, path) };
  if (name === 'intValue') {
    const integer = wholeNumber(value[name], reading);
    if (integer === null || !isInt64(integer)) {
      throw refused(`${path}.${name}`, 'must be an integer of 64 bits');
    }
    return integerValue(integer);
  }
  if (name === 'doubleValue') return doubleAt(value[name], `${path}.${name}`, reading);
  return OTHER_VALUE;
}

const NOT_FINITE = new Set(['NaN', 'Infinity', '-Infinity']);

function doubleAt(value: unknown, path: string, reading: Reading): AttributeValue {
  if (typeof value === 'string' && NOT_FINITE.has(value)) return OTHER_VALUE;
  const token = numberToken(value, reading);
  if (token === null || !JSON_NUMBER.test(token)) throw refused(path, 'must be a number');
  return doubleValue(Number(token));
}

const JSON_NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The literal of a number, which may also be a text; null for any other value. */
function numberToken(value: unknown, { numbers }: Reading): string | null {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') return null;
  return numbers === null ? String(value) : (numbers[value] ?? null);
}

/** Exact; null if it is not an integer. */
function wholeNumber(value: unknown, reading: Reading): bigint | null {
  const text =
    typeof value === 'number'
      ? numberText(value, reading.numbers)
      : typeof value === 'string'
        ? plainDecimal(value)
        : null;
  return text !== null && /^-?\d+$/.test(text) ? BigInt(text) : null;
}

/** The items of a list with their paths; empty if the list is absent. */
function* objectsOf(owner: JsonObject, name: string, path: string): Generator<[JsonObject, string]> {
  const list = owner[name];
  const place = path === '' ? name : `${path}.${name}`;
  if (list === undefined || list === null) return;
  if (!Array.isArray(list)) throw refused(place, 'must be an array');
  // Limits the spans, which are in such lists; lists of attributes are never that long.
  requireFewSpans(list.length);
  for (const [index, item] of list.entries()) {
    yield [objectAt(item, `${place}[${index}]`), `${place}[${index}]`];
  }
}

const NOTHING: JsonObject = {};

function member(owner: JsonObject, name: string, path: string): JsonObject {
  const value = owner[name];
  return value === undefined || value === null ? NOTHING : objectAt(value, `${path}.${name}`);
}

function objectAt(value: unknown, path: string): JsonObject {
  if (!isObject(value)) throw refused(path, 'must be an object');
  return value;
}

/** Empty if it is absent. */
function textAt(owner: JsonObject, name: string, path: string): string {
  const value = owner[name] ?? '';
  if (typeof value !== 'string') throw refused(`${path}.${name}`, 'must be a string');
  return value;
}

function refused(path: string, problem: string): Refusal {
  return new Refusal('invalid', `${path}: ${problem}`);
}
