/** An export request in JSON and the same in protobuf are the same spans, and no body does harm. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../src/core/errors.ts';
import { readJsonSpans } from '../../src/metering/otlp/read-json.ts';
import { readProtobufSpans } from '../../src/metering/otlp/read-protobuf.ts';
import type { Span } from '../../src/metering/otlp/span.ts';
import {
  field,
  requestJson,
  requestProtobuf,
  type SentAttributes,
  type SentRequest,
  type SentSpan,
  type SentValue,
} from '../support/otlp.ts';
import { runs } from '../support/shares-of-tests.ts';

const NAMES = ['gen_ai.usage.input_tokens', 'gen_ai.response.model', 'customer'];
const WANTED = new Set(NAMES);
/** The time for a body that is built to cost much, on a busy machine. */
const BODY_MS_MAX = 5_000;

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const doubles = fc.oneof(
  fc.double({ noNaN: true }),
  fc.constantFrom(0.1, 1e21, 5e-324, 2 ** 60, Infinity, NaN),
);
const scalar: fc.Arbitrary<SentValue> = fc.oneof(
  fc.record({ string: fc.string({ unit: 'grapheme' }) }),
  fc.record({ int: int64 }),
  // JSON has no -0.
  fc.record({ double: doubles.map((value) => value + 0) }),
  fc.record({ bool: fc.boolean() }),
);
const value = fc.oneof(
  { weight: 5, arbitrary: scalar },
  fc.record({ list: fc.array(scalar, { maxLength: 3 }) }),
);
const attributes: fc.Arbitrary<SentAttributes> = fc.array(
  fc.tuple(fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: 'grapheme', maxLength: 8 })), value),
  { maxLength: 6 },
);
const span: fc.Arbitrary<SentSpan> = fc.record({
  traceId: fc.uint8Array({ minLength: 16, maxLength: 16 }),
  spanId: fc.uint8Array({ maxLength: 9 }),
  parentSpanId: fc.uint8Array({ maxLength: 9 }),
  name: fc.string({ unit: 'grapheme' }),
  end: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  attributes,
  statusCode: fc.nat(2),
});
const name = fc.string({ unit: 'grapheme', maxLength: 8 });
const scope = fc.record({ name, version: name });
const request: fc.Arbitrary<SentRequest> = fc.array(
  fc.record({ attributes, scope, scopes: fc.array(fc.array(span, { maxLength: 3 }), { maxLength: 2 }) }),
  { maxLength: 3 },
);
const style = fc.record({ numbers: fc.boolean(), upperCase: fc.boolean() });

/** Whether the body was read, or else refused as a request that is wrong. */
function isReadOrRefused(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof Refusal && (error.kind === 'invalid' || error.kind === 'too_large')) return false;
    throw error;
  }
}

function expectSameSpans(sent: SentRequest, fromJson: Span[], fromProtobuf: Span[]): void {
  expect(fromJson).toEqual(fromProtobuf);
  const spans = sent.flatMap(({ scopes }) => scopes.flat());
  expect(fromProtobuf.map(({ spanId }) => spanId)).toEqual(
    spans.map(({ spanId }) => Buffer.from(spanId).toString('hex')),
  );
  expect(fromProtobuf.map(({ endTimeUnixNano }) => endTimeUnixNano)).toEqual(spans.map(({ end }) => end));
}

describe('the spans of an export request', () => {
  it('the spans of an export request are the same from JSON and from protobuf', () => {
    fc.assert(
      fc.property(request, style, (sent, how) => {
        const fromJson = readJsonSpans(Buffer.from(requestJson(sent, how)), WANTED);
        expectSameSpans(sent, fromJson, readProtobufSpans(requestProtobuf(sent), WANTED));
      }),
      { numRuns: runs(1_500) },
    );
  });

  it('the spans of an export request keep every digit of an integer and of a double', () => {
    fc.assert(
      fc.property(int64, fc.double({ noNaN: true, min: -1e15, max: 1e15 }), (int, double) => {
        const sent = (one: SentValue): SentRequest => [
          {
            attributes: [['customer', one]],
            scopes: [[{ traceId: ID, spanId: ID, end: 1n, attributes: [] }]],
          },
        ];
        const [ofInt] = readProtobufSpans(requestProtobuf(sent({ int })), WANTED);
        expect(ofInt?.resource.get('customer')).toEqual({ kind: 'number', text: String(int) });
        const [ofDouble] = readProtobufSpans(requestProtobuf(sent({ double })), WANTED);
        const read = ofDouble?.resource.get('customer');
        // A number below 1e-160 has more digits than are kept.
        if (read?.kind === 'number') expect(Number(read.text)).toBe(double + 0);
        else expect(Math.abs(double)).toBeLessThan(1e-130);
      }),
      { numRuns: runs(1_500) },
    );
  });
});

const ID = Buffer.alloc(8, 1);

it('a span has failed by the number of its status, and by the name that some senders write', () => {
  const failed = ['2', '"STATUS_CODE_ERROR"', '1', '0', '"STATUS_CODE_OK"', 'null'].map((code) => {
    const body = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"status":{"code":${code}}}]}]}]}`;
    return readJsonSpans(Buffer.from(body), WANTED)[0]?.isFailed;
  });
  expect(failed).toEqual([true, true, false, false, false, false]);
});

describe('a body that is no export request', () => {
  it('a body that is no export request is read or refused, whatever its bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        isReadOrRefused(() => readProtobufSpans(Buffer.from(bytes), WANTED));
        isReadOrRefused(() => readJsonSpans(Buffer.from(bytes), WANTED));
        expect(true).toBe(true);
      }),
      { numRuns: runs(3_000) },
    );
  });

  it('a body that is no export request is read or refused where bytes of a good one are changed or missing', () => {
    fc.assert(
      fc.property(request, fc.nat(), fc.nat(255), fc.nat(), (sent, at, byte, kept) => {
        for (const [read, good] of [
          [readProtobufSpans, requestProtobuf(sent)],
          [readJsonSpans, Buffer.from(requestJson(sent))],
        ] as const) {
          const changed = Buffer.from(good);
          if (changed.length > 0) changed[at % changed.length] = byte;
          isReadOrRefused(() => read(changed, WANTED));
          isReadOrRefused(() => read(good.subarray(0, kept % (good.length + 1)), WANTED));
        }
        expect(true).toBe(true);
      }),
      { numRuns: runs(1_500) },
    );
  });

  it('a body that is no export request is read or refused where JSON has values of the wrong kind', () => {
    const names = fc.constantFrom(
      'resourceSpans',
      'resource',
      'scopeSpans',
      'spans',
      'attributes',
      'key',
      'value',
      'intValue',
      'doubleValue',
      'stringValue',
      'endTimeUnixNano',
      'traceId',
      'status',
      'code',
      '__proto__',
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 8, depthSize: 'max' },
        fc.constantFrom(null, true, '', 'customer', '12', '1e3', 1.5, 1e300, -1),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(names, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (body) => {
        isReadOrRefused(() => readJsonSpans(Buffer.from(JSON.stringify(body)), WANTED));
        expect(true).toBe(true);
      }),
      { numRuns: runs(3_000) },
    );
  });

  const SIZE = 2 * 1024 * 1024;
  const hostile: readonly (readonly [string, (body: Buffer) => unknown])[] = [
    ['JSON', (body) => readJsonSpans(body, WANTED)],
    ['protobuf', (body) => readProtobufSpans(body, WANTED)],
  ];
  const bodies: readonly (readonly [string, Buffer])[] = [
    ['empty spans', field(1, [field(2, Buffer.alloc(SIZE - 20, Buffer.from([0x12, 0])))])],
    ['empty resources', Buffer.alloc(SIZE, Buffer.from([0x0a, 0]))],
    ['unknown numbers', field(1, [field(2, [field(2, Buffer.alloc(SIZE - 30, Buffer.from([0x78, 1])))])])],
    ['numbers without an end', Buffer.alloc(SIZE, 0xff)],
    [
      'parts of one value',
      field(1, [field(1, [field(1, [Buffer.alloc(SIZE - 40, Buffer.from([0x12, 0]))])])]),
    ],
    ['open brackets', Buffer.alloc(SIZE, '[')],
    ['nested brackets', Buffer.from('['.repeat(SIZE / 2) + ']'.repeat(SIZE / 2))],
    ['empty objects', Buffer.from(`{"resourceSpans":[${'{},'.repeat(SIZE / 4)}{}]}`)],
    [
      'spans of JSON',
      Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[${'{},'.repeat(SIZE / 4)}{}]}]}]}`),
    ],
    ['long numbers', Buffer.from(`{"resourceSpans":[],"x":[${`${'9'.repeat(500)},`.repeat(4_000)}1]}`)],
    ['digits', Buffer.alloc(SIZE, '9')],
    ['quotes', Buffer.alloc(SIZE, '"\\')],
  ];
  it.each(bodies)('a body that is no export request of 2 MiB of %s ends soon', (_name, body) => {
    for (const [, read] of hostile) {
      const start = performance.now();
      isReadOrRefused(() => read(body));
      expect(performance.now() - start).toBeLessThan(BODY_MS_MAX);
    }
  });
});
