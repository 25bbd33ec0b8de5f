/**
 * `POST /v1/ingest/otlp`: spans of calls to AI models become events of token billing. Speaks OTLP/HTTP as exporters do:
 * JSON or protobuf, answered in the same, gzip or none, and spans that cannot be billed refused one by one.
 */
import { z } from 'zod';
import { assert, Refusal } from '../../../core/errors.ts';
import type { NotedSpan, SpanIngest } from '../../../metering/otlp/ingest-spans.ts';
import { EncodedAnswer } from '../../http/encoded-answer.ts';
import { mediaTypeOf } from '../../http/request-body.ts';
import { type OtherEncoding, type RouteDefinition, route } from '../../http/route.ts';
import { exportResponse, type PartialSuccess, statusMessage } from './otlp-messages.ts';

const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/x-protobuf';

const PROTOBUF: OtherEncoding = {
  mediaType: PROTOBUF_TYPE,
  messages: {
    request: 'An ExportTraceServiceRequest of opentelemetry-proto.',
    response: 'An ExportTraceServiceResponse of opentelemetry-proto.',
    refusal: 'A google.rpc.Status with the message.',
  },
  writeRefusal: statusMessage,
};

const anyValue = z
  .object({
    stringValue: z.string().optional(),
    intValue: z.union([z.string(), z.number()]).optional(),
    doubleValue: z.union([z.number(), z.string()]).optional(),
  })
  .meta({ id: 'OtlpAnyValue', description: 'One of these members. Other kinds of values are ignored.' });

const attributes = z.array(z.object({ key: z.string(), value: anyValue })).optional();

const span = z
  .object({
    traceId: z.string().meta({ description: '32 hexadecimal digits.' }),
    spanId: z.string().meta({ description: '16 hexadecimal digits.' }),
    endTimeUnixNano: z.union([z.string(), z.number()]),
    attributes,
    status: z.object({ code: z.union([z.number(), z.string()]).optional() }).optional(),
  })
  .meta({ id: 'OtlpSpan' });

const exportRequest = z
  .object({
    resourceSpans: z
      .array(
        z.object({
          resource: z.object({ attributes }).optional(),
          scopeSpans: z.array(z.object({ spans: z.array(span).optional() })).optional(),
        }),
      )
      .optional(),
  })
  .meta({
    id: 'OtlpExportTraceServiceRequest',
    description: 'The members that are read; others are ignored.',
    example: {
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: [
                {
                  traceId: '5b8efff798038103d269b633813fc60c',
                  spanId: 'eee19b7ec3c1b174',
                  endTimeUnixNano: '1795168800000000000',
                  attributes: [
                    { key: 'tallyhouse.customer', value: { stringValue: 'acme' } },
                    { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
                    { key: 'gen_ai.provider.name', value: { stringValue: 'openai' } },
                    { key: 'gen_ai.response.model', value: { stringValue: 'gpt-4o' } },
                    { key: 'gen_ai.usage.input_tokens', value: { intValue: '1250' } },
                    { key: 'gen_ai.usage.output_tokens', value: { intValue: '310' } },
                  ],
                },
              ],
            },
          ],
        },
      ],
    },
  });

const exportAnswer = z
  .object({
    partialSuccess: z
      .object({
        rejectedSpans: z
          .string()
          .meta({ description: 'The number of refused spans; 0 if there are only warnings.' }),
        errorMessage: z
          .string()
          .meta({ description: 'The first refused spans and warnings, each with its reason.' }),
      })
      .optional()
      .meta({ description: 'Absent if no span was refused and none has a warning.' }),
  })
  .meta({ id: 'OtlpExportTraceServiceResponse' });

/** The storage of spans: `SpanIngest`. */
export type IngestSpans = SpanIngest['ingest'];

/** The path, and the path that exporters derive from it as their endpoint for all signals. */
export function otlpRoutes(ingestSpans: IngestSpans, admit: () => void): RouteDefinition[] {
  return [
    otlpRoute(ingestSpans, admit, {
      path: '/v1/ingest/otlp',
      operationId: 'ingestSpans',
      summary: 'Send OpenTelemetry spans of calls to AI models',
    }),
    otlpRoute(ingestSpans, admit, {
      path: '/v1/ingest/otlp/v1/traces',
      operationId: 'ingestSpansOfEndpoint',
      summary: 'The same, for exporters that add the path of the signal to an endpoint',
    }),
  ];
}

function otlpRoute(
  ingestSpans: IngestSpans,
  admit: () => void,
  names: Pick<RouteDefinition, 'path' | 'operationId' | 'summary'>,
): RouteDefinition {
  const documented = route({
    method: 'post',
    ...names,
    description:
      'OTLP/HTTP for AI gateways and SDKs. Each span with `gen_ai` token counts becomes a `token-billing` event; ' +
      'spans of anything else are ignored, and a span that cannot be billed is refused without the others. ' +
      'Answered when the events are on disk. Sending the same spans again is safe: they count once.',
    tags: ['Usage'],
    scope: 'ingest',
    errors: [415, 429, 503],
    otherEncoding: PROTOBUF,
    takesCompressed: true,
    response: exportAnswer,
    async handler() {
      throw new Error('the route of spans takes bytes');
    },
  });
  return {
    ...documented,
    admit,
    body: exportRequest,
    bodyKind: 'bytes',
    async run({ http, body }) {
      assert(Buffer.isBuffer(body), 'the route of spans gets the bytes of the body');
      const type = mediaTypeOf(http);
      if (type === JSON_TYPE) {
        return jsonAnswer(partialSuccess(await ingestSpans(body, 'json')));
      }
      if (type === PROTOBUF_TYPE) {
        const partial = partialSuccess(await ingestSpans(body, 'protobuf'));
        return new EncodedAnswer(exportResponse(partial), PROTOBUF_TYPE);
      }
      throw new Refusal('unsupported', `Content-Type must be ${PROTOBUF_TYPE} or ${JSON_TYPE}`);
    },
  };
}

/** Numbers of 64 bits are texts in the JSON of protobuf. */
function jsonAnswer(partial: PartialSuccess | null): z.input<typeof exportAnswer> {
  if (partial === null) return {};
  const { rejectedSpans, errorMessage } = partial;
  return { partialSuccess: { rejectedSpans: String(rejectedSpans), errorMessage } };
}

/** Spans that the message names. */
const NAMED_SPANS_MAX = 5;

/** Warnings are a partial success that refuses nothing, as OTLP has it. */
function partialSuccess({ refused, warned }: Awaited<ReturnType<IngestSpans>>): PartialSuccess | null {
  if (refused.length === 0 && warned.length === 0) return null;
  const parts = [
    ...(refused.length === 0 ? [] : [`refused, the other spans are stored: ${named(refused)}`]),
    ...(warned.length === 0 ? [] : [`taken with a warning: ${named(warned)}`]),
  ];
  return { rejectedSpans: refused.length, errorMessage: parts.join('. ') };
}

function named(spans: readonly NotedSpan[]): string {
  const first = spans.slice(0, NAMED_SPANS_MAX).map(({ id, reason }) => `${id} ${reason}`);
  const rest = spans.length > first.length ? `; and ${spans.length - first.length} more` : '';
  return `${first.join('; ')}${rest}`;
}
