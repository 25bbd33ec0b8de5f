/**
 * `POST /v1/ingest`. The body is passed on as bytes: the validator of the ingest pipeline is several times
 * as fast as parsing JSON and checking it against a schema.
 */
import { z } from 'zod';
import { assert } from '../../../core/errors.ts';
import { type RouteDefinition, route } from '../../http/route.ts';

/** Numbers of events. */
interface IngestResult {
  readonly accepted: number;
  readonly duplicates: number;
}

/**
 * Resolves when the accepted events are on disk. Refuses the whole request if any event is invalid, with
 * `errors` in the refusal's details.
 */
export type Ingest = (body: Buffer) => Promise<IngestResult>;

const usageEvent = z
  .object({
    transaction_id: z.string().meta({
      description: 'Identity of the event: the first one stored counts, later ones are duplicates.',
    }),
    customer_id: z
      .string()
      .meta({ description: 'Id or ingest alias of a customer, who need not exist yet.' }),
    event_type: z.string(),
    timestamp: z.string().meta({ format: 'date-time' }),
    properties: z.record(z.string(), z.unknown()).optional().meta({
      description: 'Properties by which metrics filter, group and aggregate. Numbers keep every digit.',
    }),
  })
  .meta({
    id: 'UsageEvent',
    example: {
      transaction_id: '2026-11-20T10:00:00Z-acme-1',
      customer_id: 'acme',
      event_type: 'tokens',
      timestamp: '2026-11-20T10:00:00Z',
      properties: { model: 'large', tokens: 1250 },
    },
  });

export const ingestError = z
  .object({
    message: z.string(),
    errors: z
      .array(
        z.object({
          index: z.number().meta({ description: 'Position of the event in the request, from 0.' }),
          transaction_id: z.string().nullable(),
          message: z.string(),
        }),
      )
      .optional()
      .meta({ description: 'The invalid events only.' }),
  })
  .meta({ id: 'IngestError' });

export function ingestRoute(ingest: Ingest, admit: () => void): RouteDefinition {
  const documented = route({
    method: 'post',
    path: '/v1/ingest',
    operationId: 'ingest',
    summary: 'Send usage events',
    description:
      'One to a hundred events. Answered when they are on disk and counted in every later answer. A request ' +
      'with any invalid event stores nothing. Sending the same events again is safe: they count once.',
    tags: ['Usage'],
    scope: 'ingest',
    errors: [415, 429, 503],
    takesCompressed: true,
    errorBody: ingestError,
    response: z.object({ accepted: z.number(), duplicates: z.number() }).meta({ id: 'IngestResult' }),
    async handler() {
      throw new Error('the ingest route takes bytes');
    },
  });
  return {
    ...documented,
    admit,
    body: z.array(usageEvent).min(1).max(100),
    bodyKind: 'bytes',
    async run({ body }) {
      assert(Buffer.isBuffer(body), 'the ingest route gets the bytes of the body');
      return ingest(body);
    },
  };
}
