/** Export requests of OpenTelemetry, written in both encodings by hand: independent of the code that reads them. */
import type { SpanRules } from '../../src/metering/otlp/span-event.ts';

export type SentValue =
  | { readonly string: string }
  | { readonly int: bigint }
  | { readonly double: number }
  | { readonly bool: boolean }
  | { readonly list: readonly SentValue[] };

export type SentAttributes = readonly (readonly [name: string, value: SentValue])[];

export interface SentSpan {
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  readonly parentSpanId?: Uint8Array;
  readonly name?: string;
  readonly end: bigint;
  readonly attributes: SentAttributes;
  readonly statusCode?: number;
}

interface SentResource {
  readonly attributes: SentAttributes;
  /** The library that created the spans; `test` where it is left out. */
  readonly scope?: SentScope;
  readonly scopes: readonly (readonly SentSpan[])[];
}

export interface SentScope {
  readonly name: string;
  readonly version: string;
}

const TEST_SCOPE: SentScope = { name: 'test', version: '' };

export type SentRequest = readonly SentResource[];

/** How one encoding may be written in more than one way. */
export interface JsonStyle {
  /** Integers of 64 bits as numbers instead of texts. */
  readonly numbers?: boolean;
  readonly upperCase?: boolean;
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** The JSON of OTLP. Written as text, so that integers keep their digits. */
export function requestJson(request: SentRequest, style: JsonStyle = {}): string {
  const integer = (value: bigint) => (style.numbers === true ? String(value) : `"${value}"`);
  const id = (bytes: Uint8Array) => (style.upperCase === true ? hex(bytes).toUpperCase() : hex(bytes));
  const valueJson = (value: SentValue): string => {
    if ('string' in value) return `{"stringValue":${JSON.stringify(value.string)}}`;
    if ('int' in value) return `{"intValue":${integer(value.int)}}`;
    if ('double' in value) return `{"doubleValue":${doubleJson(value.double)}}`;
    if ('bool' in value) return `{"boolValue":${value.bool}}`;
    return `{"arrayValue":{"values":[${value.list.map(valueJson).join()}]}}`;
  };
  const attributesJson = (attributes: SentAttributes) =>
    `[${attributes.map(([key, value]) => `{"key":${JSON.stringify(key)},"value":${valueJson(value)}}`).join()}]`;
  const spanJson = (span: SentSpan) =>
    `{"traceId":"${id(span.traceId)}","spanId":"${id(span.spanId)}","name":${JSON.stringify(span.name ?? '')},` +
    (span.parentSpanId === undefined ? '' : `"parentSpanId":"${id(span.parentSpanId)}",`) +
    `"kind":3,"startTimeUnixNano":"1","endTimeUnixNano":${integer(span.end)},` +
    `"attributes":${attributesJson(span.attributes)},"status":{"code":${span.statusCode ?? 0}}}`;
  const groups = request.map(
    ({ attributes, scope = TEST_SCOPE, scopes }) =>
      `{"resource":{"attributes":${attributesJson(attributes)},"droppedAttributesCount":0},"scopeSpans":[${scopes
        .map((spans) => `{"scope":${JSON.stringify(scope)},"spans":[${spans.map(spanJson).join()}]}`)
        .join()}]}`,
  );
  return `{"resourceSpans":[${groups.join()}]}`;
}

function doubleJson(value: number): string {
  return Number.isFinite(value) ? JSON.stringify(value) : `"${value}"`;
}

/** The same in protobuf, with fields that nobody reads in between. */
export function requestProtobuf(request: SentRequest): Buffer<ArrayBuffer> {
  return Buffer.concat(
    request.map(({ attributes, scope = TEST_SCOPE, scopes }) =>
      field(1, [
        field(1, [
          ...attributes.map((attribute) => field(1, attributeMessage(attribute))),
          varintField(2, 0n),
        ]),
        ...scopes.map((spans) =>
          field(2, [
            field(1, [field(1, Buffer.from(scope.name)), field(2, Buffer.from(scope.version))]),
            ...spans.map((span) => field(2, spanMessage(span))),
          ]),
        ),
        field(3, Buffer.from('https://schema.example')),
      ]),
    ),
  );
}

function spanMessage({ traceId, spanId, parentSpanId, name, end, attributes, statusCode }: SentSpan): Buffer {
  return Buffer.concat([
    field(1, traceId),
    field(2, spanId),
    ...(parentSpanId === undefined ? [] : [field(4, parentSpanId)]),
    field(5, Buffer.from(name ?? '')),
    varintField(6, 3n),
    fixed64(7, 1n),
    fixed64(8, end),
    ...attributes.map((attribute) => field(9, attributeMessage(attribute))),
    field(15, [field(2, Buffer.from('why')), varintField(3, BigInt(statusCode ?? 0))]),
    // The flags, four bytes.
    varint(BigInt(16 * 8 + 5)),
    Buffer.from([1, 1, 0, 0]),
  ]);
}

function attributeMessage([name, value]: readonly [string, SentValue]): Buffer {
  return Buffer.concat([field(1, Buffer.from(name)), field(2, valueMessage(value))]);
}

function valueMessage(value: SentValue): Buffer {
  if ('string' in value) return field(1, Buffer.from(value.string));
  if ('bool' in value) return varintField(2, value.bool ? 1n : 0n);
  if ('int' in value) return varintField(3, value.int);
  if ('list' in value)
    return field(
      5,
      value.list.map((item) => field(1, valueMessage(item))),
    );
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value.double);
  return Buffer.concat([varint(BigInt(4 * 8 + 1)), bytes]);
}

/** A field of bytes: a text, or the message that consists of these fields. */
export function field(number: number, content: Uint8Array | readonly Buffer[]): Buffer<ArrayBuffer> {
  const bytes = content instanceof Uint8Array ? content : Buffer.concat([...content]);
  return Buffer.concat([varint(BigInt(number * 8 + 2)), varint(BigInt(bytes.length)), bytes]);
}

function varintField(number: number, value: bigint): Buffer {
  return Buffer.concat([varint(BigInt(number * 8)), varint(BigInt.asUintN(64, value))]);
}

function fixed64(number: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return Buffer.concat([varint(BigInt(number * 8 + 1)), bytes]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest % 128n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

/** The operator's rules for spans unless a test gives others. */
export const SPAN_RULES: SpanRules = {
  customerAttributes: ['tallyhouse.customer'],
  cachedBeside: [],
  responseIdsFrom: 0,
};

let sequence = 0;

/** A call of `acme/large` by `acme` that ended at this time, RFC 3339. Each call has new ids. */
export function modelCall(
  at: string,
  { customer = 'acme', tokens = {}, ...others }: ModelCall = {},
): SentSpan {
  sequence += 1;
  const traceId = Buffer.alloc(16, 7);
  traceId.writeUInt32BE(sequence, 12);
  const spanId = Buffer.alloc(8, 9);
  spanId.writeUInt32BE(sequence, 4);
  const named = others.attributes ?? [];
  return {
    traceId,
    spanId,
    end: BigInt(Date.parse(at)) * 1_000_000n,
    ...others,
    attributes: [
      ...(customer === null ? [] : [['tallyhouse.customer', { string: customer }] as const]),
      ['gen_ai.operation.name', { string: 'chat' }],
      ['gen_ai.provider.name', { string: 'acme' }],
      ['gen_ai.response.model', { string: 'large-2026-01-01' }],
      ...Object.entries(tokens).map(
        ([name, count]) => [`gen_ai.usage.${name}`, { int: BigInt(count) }] as const,
      ),
      ...named,
    ],
  };
}

interface ModelCall extends Partial<Omit<SentSpan, 'end'>> {
  /** Null: the span does not say. */
  readonly customer?: string | null;
  /** Counts by the names of the conventions, without `gen_ai.usage.`. */
  readonly tokens?: Readonly<Record<string, number>>;
}

/** All of them as one batch of one program. */
export function requestOf(
  spans: readonly SentSpan[],
  attributes: SentAttributes = [],
  scope: SentScope = TEST_SCOPE,
): SentRequest {
  return [{ attributes, scope, scopes: [spans] }];
}
