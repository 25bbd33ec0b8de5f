/**
 * Parses the spans of an `ExportTraceServiceRequest` in protobuf. Field numbers are those of opentelemetry-proto; only
 * fields that billing needs are read.
 */
import { isUtf8 } from 'node:buffer';
import { Refusal } from '../../core/errors.ts';
import { doubleValue, integerValue } from './attribute-number.ts';
import { ProtobufFields, WIRE } from './protobuf-fields.ts';
import {
  type Attributes,
  type AttributeValue,
  OTHER_VALUE,
  requireFewSpans,
  type Span,
  STATUS_CODE_ERROR,
  type WantedAttributes,
} from './span.ts';

const REQUEST = { resourceSpans: 1 };
const RESOURCE_SPANS = { resource: 1, scopeSpans: 2 };
const RESOURCE = { attributes: 1 };
const SCOPE_SPANS = { scope: 1, spans: 2 };
const SCOPE = { name: 1, version: 2 };
const SPAN = {
  traceId: 1,
  spanId: 2,
  parentSpanId: 4,
  name: 5,
  startTimeUnixNano: 7,
  endTimeUnixNano: 8,
  attributes: 9,
  status: 15,
};
const STATUS = { code: 3 };
const KEY_VALUE = { key: 1, value: 2 };
const ANY_VALUE = { string: 1, bool: 2, int: 3, double: 4, array: 5, keyValueList: 6, bytes: 7 };

/** The spans in the order of the body. Refuses (`invalid`) another body, and too many spans. */
export function readProtobufSpans(body: Buffer, wanted: WantedAttributes): Span[] {
  const spans: Span[] = [];
  const fields = new ProtobufFields(body);
  while (fields.next()) {
    if (fields.is(REQUEST.resourceSpans, WIRE.bytes)) readResourceSpans(fields.bytes(), wanted, spans);
  }
  return spans;
}

function readResourceSpans(message: Buffer, wanted: WantedAttributes, spans: Span[]): void {
  const resource = new Map<string, AttributeValue>();
  const fields = new ProtobufFields(message);
  while (fields.next()) {
    // Fields are in any order, and spans that were read already share this map.
    if (fields.is(RESOURCE_SPANS.resource, WIRE.bytes)) readResource(fields.bytes(), wanted, resource);
    else if (fields.is(RESOURCE_SPANS.scopeSpans, WIRE.bytes)) {
      readScopeSpans(fields.bytes(), wanted, resource, spans);
    }
  }
}

function readScopeSpans(
  message: Buffer,
  wanted: WantedAttributes,
  resource: Attributes,
  spans: Span[],
): void {
  const scope = { name: '', version: '' };
  const fields = new ProtobufFields(message);
  while (fields.next()) {
    // Spans that were read already share it, like the resource.
    if (fields.is(SCOPE_SPANS.scope, WIRE.bytes)) readScope(fields.bytes(), scope);
    else if (fields.is(SCOPE_SPANS.spans, WIRE.bytes)) {
      spans.push(readSpan(fields.bytes(), wanted, { resource, scope }));
      requireFewSpans(spans.length);
    }
  }
}

function readScope(message: Buffer, into: { name: string; version: string }): void {
  const fields = new ProtobufFields(message);
  while (fields.next()) {
    if (fields.is(SCOPE.name, WIRE.bytes)) into.name = fields.bytes().toString('utf8');
    else if (fields.is(SCOPE.version, WIRE.bytes)) into.version = fields.bytes().toString('utf8');
  }
}

function readResource(message: Buffer, wanted: WantedAttributes, into: Map<string, AttributeValue>): void {
  const fields = new ProtobufFields(message);
  while (fields.next()) {
    if (fields.is(RESOURCE.attributes, WIRE.bytes)) readAttribute(fields.bytes(), wanted, into);
  }
}

function readSpan(message: Buffer, wanted: WantedAttributes, origin: Pick<Span, 'resource' | 'scope'>): Span {
  const ids = { traceId: '', spanId: '', parentSpanId: '' };
  const times = { startTimeUnixNano: 0n, endTimeUnixNano: 0n };
  let name = '';
  let isFailed = false;
  const attributes = new Map<string, AttributeValue>();
  const fields = new ProtobufFields(message);
  while (fields.next()) {
    if (fields.is(SPAN.attributes, WIRE.bytes)) readAttribute(fields.bytes(), wanted, attributes);
    else if (fields.is(SPAN.name, WIRE.bytes)) name = fields.bytes().toString('utf8');
    else if (fields.is(SPAN.status, WIRE.bytes)) isFailed = hasFailed(fields.bytes(), isFailed);
    else readIdOrTime(fields, ids, times);
  }
  return { ...ids, ...times, name, isFailed, attributes, ...origin };
}

function readIdOrTime(
  fields: ProtobufFields,
  ids: { traceId: string; spanId: string; parentSpanId: string },
  times: { startTimeUnixNano: bigint; endTimeUnixNano: bigint },
): void {
  for (const id of ['traceId', 'spanId', 'parentSpanId'] as const)
    if (fields.is(SPAN[id], WIRE.bytes)) ids[id] = fields.bytes().toString('hex');
  for (const time of ['startTimeUnixNano', 'endTimeUnixNano'] as const)
    if (fields.is(SPAN[time], WIRE.fixed64)) times[time] = fields.fixed64();
}

/** `before`: the result of an earlier part of the same status. */
function hasFailed(message: Buffer, before: boolean): boolean {
  let isFailed = before;
  const fields = new ProtobufFields(message);
  while (fields.next()) {
    if (fields.is(STATUS.code, WIRE.varint)) isFailed = fields.int64() === BigInt(STATUS_CODE_ERROR);
  }
  return isFailed;
}

function readAttribute(message: Buffer, wanted: WantedAttributes, into: Map<string, AttributeValue>): void {
  let name = '';
  // Fields are in any order, and repeated parts of a value are merged.
  const values: Buffer[] = [];
  const fields = new ProtobufFields(message);
  while (fields.next()) {
    if (fields.is(KEY_VALUE.key, WIRE.bytes)) name = fields.bytes().toString('utf8');
    else if (fields.is(KEY_VALUE.value, WIRE.bytes)) values.push(fields.bytes());
  }
  if (wanted.has(name)) into.set(name, readValue(Buffer.concat(values), name));
}

function readValue(message: Buffer, name: string): AttributeValue {
  let value = OTHER_VALUE;
  const fields = new ProtobufFields(message);
  while (fields.next()) {
    if (fields.is(ANY_VALUE.string, WIRE.bytes)) value = { kind: 'text', text: textOf(fields.bytes(), name) };
    else if (fields.is(ANY_VALUE.int, WIRE.varint)) value = integerValue(fields.int64());
    else if (fields.is(ANY_VALUE.double, WIRE.fixed64)) value = doubleValue(fields.double());
    else if (isOther(fields)) value = OTHER_VALUE;
  }
  return value;
}

function isOther(fields: ProtobufFields): boolean {
  return (
    fields.is(ANY_VALUE.bool, WIRE.varint) ||
    fields.is(ANY_VALUE.array, WIRE.bytes) ||
    fields.is(ANY_VALUE.keyValueList, WIRE.bytes) ||
    fields.is(ANY_VALUE.bytes, WIRE.bytes)
  );
}

/** Replacing invalid UTF-8 could merge two customers into one. */
function textOf(bytes: Buffer, name: string): string {
  if (!isUtf8(bytes)) throw new Refusal('invalid', `attribute ${name}: is not valid UTF-8`);
  return bytes.toString('utf8');
}
