/** `POST /v1/ingest/otlp` speaks OTLP/HTTP: encodings, compression, statuses, and spans refused one by one. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../../../src/core/errors.ts';
import { createSpanIngest } from '../../../../../src/metering/otlp/ingest-spans.ts';
import {
  field,
  modelCall,
  requestJson,
  requestOf,
  requestProtobuf,
  type SentSpan,
  SPAN_RULES,
} from '../../../../support/otlp.ts';
import { testApp } from '../../fixtures.ts';

const AT = '2026-11-02T10:00:00Z';
const LIMIT_BYTES = 100_000;
const PROTOBUF = 'application/x-protobuf';
const tokens = { input_tokens: 10, output_tokens: 5 };

interface IngestedEvent {
  readonly customer_id: string;
}

/** Stores nothing, and refuses what no customer of this name sent as ingestion does. */
function appFor(refuses = (_event: IngestedEvent): string | null => null) {
  const bodies: IngestedEvent[][] = [];
  const warnings: string[] = [];
  const { ingest: ingestSpans, stats } = createSpanIngest({
    rules: SPAN_RULES,
    onWarning: ({ reason }) => warnings.push(reason),
    async ingestEvents(body) {
      const events: IngestedEvent[] = JSON.parse(body.toString());
      const errors = events
        .map((event, index) => ({ index, transaction_id: null, message: refuses(event) }))
        .filter(({ message }) => message !== null);
      if (errors.length > 0) throw new Refusal('invalid', 'some are invalid', { details: { errors } });
      bodies.push(events);
      return { accepted: events.length, duplicates: 0 };
    },
  });
  return { ...testApp([], { ingestSpans, bodyLimitBytes: LIMIT_BYTES }), bodies, stats, warnings };
}

interface Sent {
  readonly type?: string | null;
  readonly encoding?: string;
  readonly token?: string | null;
}

async function send(
  { hono }: Pick<ReturnType<typeof appFor>, 'hono'>,
  body: string | Uint8Array<ArrayBuffer>,
  { type = PROTOBUF, encoding, token = 'sender' }: Sent = {},
) {
  const response = await hono.request('/v1/ingest/otlp', {
    method: 'POST',
    // A text would get a separate type.
    body: typeof body === 'string' ? Buffer.from(body) : body,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(type === null ? {} : { 'content-type': type }),
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    bytes,
    text: bytes.toString(),
  };
}

const protobuf = (spans: readonly SentSpan[]) => requestProtobuf(requestOf(spans));
const json = (spans: readonly SentSpan[]) => requestJson(requestOf(spans));
const status = (message: string) => field(2, Buffer.from(message));

describe('an export request', () => {
  it('an export request in protobuf is answered in protobuf, and in JSON in JSON', async () => {
    const app = appFor();
    const spans = [modelCall(AT, { tokens }), modelCall(AT, { tokens })];
    expect(await send(app, protobuf(spans))).toMatchObject({ status: 200, type: PROTOBUF, text: '' });
    expect(await send(app, json(spans), { type: 'application/json; charset=utf-8' })).toMatchObject({
      status: 200,
      type: 'application/json',
      text: '{}',
    });
    expect(app.bodies[0]).toEqual(app.bodies[1]);
    expect(app.bodies[0]).toHaveLength(2);
  });

  it('an export request without spans is a success', async () => {
    const app = appFor();
    expect(await send(app, new Uint8Array())).toMatchObject({ status: 200, text: '' });
    expect(await send(app, '{}', { type: 'application/json' })).toMatchObject({ status: 200, text: '{}' });
    expect(app.bodies).toEqual([]);
  });

  it('an export request may be compressed with gzip', async () => {
    const app = appFor();
    const body = gzipSync(protobuf([modelCall(AT, { tokens })]));
    expect(await send(app, body, { encoding: 'gzip' })).toMatchObject({ status: 200 });
    expect(app.bodies).toHaveLength(1);
  });

  it('an export request of many spans is stored in parts of the size that ingestion takes', async () => {
    const app = appFor();
    const spans = Array.from({ length: 250 }, () => modelCall(AT, { tokens }));
    expect((await send(app, protobuf(spans))).status).toBe(200);
    expect(app.bodies.map((events) => events.length)).toEqual([100, 100, 50]);
  });
});

describe('spans that cannot be billed', () => {
  const good = modelCall(AT, { tokens });
  const nobodys = modelCall(AT, { tokens, customer: null });
  const tooLong = modelCall(AT, { tokens, customer: 'too-long' });
  const ignored = { ...modelCall(AT), attributes: [] };
  const idOf = ({ traceId, spanId }: SentSpan) =>
    `${Buffer.from(traceId).toString('hex')}:${Buffer.from(spanId).toString('hex')}`;
  const refuses = ({ customer_id }: IngestedEvent) =>
    customer_id === 'too-long' ? 'customer_id: is too long' : null;
  const message =
    `refused, the other spans are stored: ${idOf(nobodys)} has no attribute tallyhouse.customer, and neither has ` +
    `its resource; ${idOf(tooLong)} customer_id: is too long`;

  it('spans that cannot be billed are refused with their reasons, and the others of the request are stored', async () => {
    const app = appFor(refuses);
    const spans = [tooLong, good, nobodys, ignored];
    expect(await send(app, protobuf(spans))).toEqual({
      status: 200,
      type: PROTOBUF,
      bytes: field(1, [Buffer.from([1 * 8, 2]), field(2, Buffer.from(message))]),
      text: expect.any(String),
    });
    const answer = await send(app, json(spans), { type: 'application/json' });
    expect(JSON.parse(answer.text)).toEqual({
      partialSuccess: { rejectedSpans: '2', errorMessage: message },
    });
    expect(app.bodies.flat()).toHaveLength(2);
    expect(app.stats()).toEqual({ accepted: 2, duplicates: 0, ignored: 2, refused: 4, warned: 0 });
  });

  it('spans that cannot be billed are distinguished from those that are taken with a warning, which are counted', async () => {
    const app = appFor();
    const strange = modelCall(AT, { tokens: { ...tokens, 'cache_of.next_year': 3 } });
    const warning = `taken with a warning: ${idOf(strange)} gen_ai.usage.cache_of.next_year is not known: its tokens are billed as plain input unless a known count includes them`;
    expect((await send(app, protobuf([good, strange]))).bytes).toEqual(
      field(1, [Buffer.from([1 * 8, 0]), field(2, Buffer.from(warning))]),
    );
    const answer = await send(app, json([strange, nobodys]), { type: 'application/json' });
    expect(JSON.parse(answer.text).partialSuccess).toMatchObject({ rejectedSpans: '1' });
    expect(answer.text).toContain(`neither has its resource. ${warning}`);
    expect(app.bodies.flat()).toHaveLength(3);
    expect(app.stats()).toMatchObject({ accepted: 3, refused: 1, warned: 2 });
    expect(app.warnings).toHaveLength(1);
  });

  it('spans that cannot be billed are named up to a number of them', async () => {
    const answer = await send(appFor(), json(Array.from({ length: 60 }, () => nobodys)), {
      type: 'application/json',
    });
    expect(JSON.parse(answer.text)).toMatchObject({ partialSuccess: { rejectedSpans: '60' } });
    expect(answer.text).toContain('; and 55 more');
    expect(answer.text.length).toBeLessThan(1_000);
  });
});

describe('a request that is refused', () => {
  const body = protobuf([modelCall(AT, { tokens })]);
  const bomb = gzipSync(Buffer.alloc(50 * LIMIT_BYTES));
  const cut = gzipSync(body).subarray(0, 30);

  it.each<[string, number, Uint8Array<ArrayBuffer>, Sent]>([
    ['a type that is not taken', 415, body, { type: 'text/plain' }],
    ['no type', 415, body, { type: null }],
    ['another compression', 415, body, { encoding: 'br' }],
    ['a body that is not gzip', 400, body, { encoding: 'gzip' }],
    ['gzip that is cut off', 400, cut, { encoding: 'gzip' }],
    ['gzip of too much', 413, bomb, { encoding: 'gzip' }],
    ['too large a body', 413, Buffer.alloc(LIMIT_BYTES + 1), {}],
    ['no protobuf', 400, Buffer.from('what?'), {}],
    ['no JSON', 400, Buffer.from('what?'), { type: 'application/json' }],
    ['another JSON', 400, Buffer.from('{"resourceSpans":{}}'), { type: 'application/json' }],
    ['no token', 401, body, { token: null }],
    ['a token that only reads', 403, body, { token: 'reader' }],
  ])(
    'a request that is refused for %s is answered with %i and stores nothing',
    async (_what, expected, sent, how) => {
      const app = appFor();
      const answer = await send(app, sent, how);
      expect(answer.status).toBe(expected);
      expect(app.bodies).toEqual([]);
      expect(answer.type).toBe(
        (how.type ?? PROTOBUF) === PROTOBUF && how.type !== null ? PROTOBUF : 'application/json',
      );
    },
  );

  it('a request that is refused says why: in protobuf as a Status, in JSON as a message', async () => {
    const app = appFor();
    expect((await send(app, Buffer.from([0x0a, 0x05]))).bytes).toEqual(
      status('body is not a protobuf ExportTraceServiceRequest: it ends inside a field'),
    );
    const wrong = '{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":1}]}]}]}]}';
    expect(JSON.parse((await send(app, wrong, { type: 'application/json' })).text)).toEqual({
      message: 'resourceSpans[0].scopeSpans[0].spans[0].attributes[0].key: must be a string',
    });
  });

  it.each(['overloaded', 'unavailable'] as const)(
    'a request that is refused because the service is %s is to be sent again as a whole',
    async (kind) => {
      let calls = 0;
      const { ingest: ingestSpans } = createSpanIngest({
        rules: SPAN_RULES,
        async ingestEvents() {
          calls += 1;
          if (calls === 1) throw new Refusal(kind, 'later');
          return { accepted: 100, duplicates: 0 };
        },
      });
      const spans = Array.from({ length: 250 }, () => modelCall(AT, { tokens }));
      const answer = await send(testApp([], { ingestSpans }), protobuf(spans));
      expect(answer.status).toBe(kind === 'overloaded' ? 429 : 503);
      expect(answer.bytes).toEqual(status('later'));
    },
  );
});
