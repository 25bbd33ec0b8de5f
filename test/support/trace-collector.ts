/** A collector of OpenTelemetry: a real HTTP server that reads the spans it is sent, as protobuf. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ProtobufFields, WIRE } from '../../src/metering/otlp/protobuf-fields.ts';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Ids of spans. */
  readonly links: readonly string[];
  readonly hasFailed: boolean;
}

export interface TraceCollector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** The number of the requests so far, answered or not. */
  requests(): number;
  /** All bytes that were sent, as text. */
  sent(): string;
  close(): Promise<void>;
}

/** Answers each request with this status. */
export async function startTraceCollector(status = 200): Promise<TraceCollector> {
  const spans: CollectedSpan[] = [];
  const bodies: Buffer[] = [];
  let requests = 0;
  const server = createServer(async (request, response) => {
    requests += 1;
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    bodies.push(body);
    spans.push(...spansOf(body));
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests: () => requests,
    sent: () => Buffer.concat(bodies).toString('latin1'),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The field numbers are those of opentelemetry/proto/trace/v1/trace.proto. */
function spansOf(request: Buffer): CollectedSpan[] {
  return messages(request, 1).flatMap((resource) =>
    messages(resource, 2).flatMap((scope) => messages(scope, 2).map(spanOf)),
  );
}

function spanOf(span: Buffer): CollectedSpan {
  return {
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    parentSpanId: hex(span, 4),
    name: String(messages(span, 5)[0] ?? ''),
    attributes: Object.fromEntries(messages(span, 9).map(attributeOf)),
    links: messages(span, 13).map((link) => hex(link, 2)),
    hasFailed: messages(span, 15).some((status) => integer(status, 3) === 2n),
  };
}

function attributeOf(attribute: Buffer): [string, string] {
  const [value = Buffer.alloc(0)] = messages(attribute, 2);
  const text = messages(value, 1)[0];
  return [String(messages(attribute, 1)[0]), String(text ?? integer(value, 3))];
}

function messages(message: Buffer, field: number): Buffer[] {
  const found: Buffer[] = [];
  for (const fields = new ProtobufFields(message); fields.next(); ) {
    if (fields.is(field, WIRE.bytes)) found.push(fields.bytes());
  }
  return found;
}

function hex(message: Buffer, field: number): string {
  return messages(message, field)[0]?.toString('hex') ?? '';
}

function integer(message: Buffer, field: number): bigint {
  for (const fields = new ProtobufFields(message); fields.next(); ) {
    if (fields.is(field, WIRE.varint)) return fields.int64();
  }
  return 0n;
}
