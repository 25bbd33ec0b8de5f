/**
 * CloudEvents over HTTP in structured mode, one or a batch: `POST /v1/ingest/cloudevents`, and `POST /api/v1/events`,
 * where collectors and callbacks of OpenMeter send them.
 */
import { z } from 'zod';
import { assert, Refusal } from '../../../core/errors.ts';
import { mediaTypeOf } from '../../http/request-body.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { ingestError } from './routes.ts';

const ONE_TYPE = 'application/cloudevents+json';
const BATCH_TYPE = 'application/cloudevents-batch+json';
const JSON_TYPE = 'application/json';

/** Resolves when the events of a body, one or a list, are on disk. Refuses all of them if any is invalid. */
export type IngestCloudEvents = (body: Buffer) => Promise<unknown>;

const cloudEvent = z
  .object({
    specversion: z.literal('1.0'),
    id: z.string().meta({ description: 'Unique for its source: the two are the identity of the event.' }),
    source: z.string(),
    type: z.string().meta({ description: 'The event type.' }),
    subject: z.string().meta({ description: 'Id or ingest alias of a customer, who need not exist yet.' }),
    time: z.string().optional().meta({ format: 'date-time', description: 'Default: now.' }),
    datacontenttype: z.string().optional().meta({ description: 'Of JSON.' }),
    data: z.record(z.string(), z.unknown()).optional().meta({
      description: 'Properties by which metrics filter, group and aggregate. Numbers keep every digit.',
    }),
  })
  .meta({
    id: 'CloudEvent',
    description: 'CloudEvents 1.0. Other attributes are ignored.',
    example: {
      specversion: '1.0',
      id: '5c10fade-1c9e-4d6c-8275-c52c36731d3c',
      source: 'my-gateway',
      type: 'tokens',
      subject: 'acme',
      time: '2026-11-20T10:00:00Z',
      data: { model: 'large', tokens: 1250 },
    },
  });

/** Both paths. */
export function cloudEventRoutes(ingest: IngestCloudEvents, admit: () => void): RouteDefinition[] {
  return [
    cloudEventRoute(ingest, admit, {
      path: '/v1/ingest/cloudevents',
      operationId: 'ingestCloudEvents',
      summary: 'Send CloudEvents',
    }),
    cloudEventRoute(ingest, admit, {
      path: '/api/v1/events',
      operationId: 'ingestOpenMeterEvents',
      summary: 'Send CloudEvents from programs that send to OpenMeter',
    }),
  ];
}

function cloudEventRoute(
  ingest: IngestCloudEvents,
  admit: () => void,
  names: Pick<RouteDefinition, 'path' | 'operationId' | 'summary'>,
): RouteDefinition {
  const documented = route({
    method: 'post',
    ...names,
    description:
      'One event (`application/cloudevents+json`), or up to 1,000 of them (`application/cloudevents-batch+json`); ' +
      '`application/json` is either. Answered when they are on disk. A batch with any invalid event stores nothing. ' +
      'Sending the same events again is safe: they count once.',
    tags: ['Usage'],
    scope: 'ingest',
    errors: [415, 429, 503],
    errorBody: ingestError,
    takesCompressed: true,
    emptyStatus: 204,
    response: 'empty',
    async handler() {
      throw new Error('the route of CloudEvents takes bytes');
    },
  });
  return {
    ...documented,
    admit,
    body: z.union([cloudEvent, z.array(cloudEvent)]),
    bodyKind: 'bytes',
    async run({ http, body }) {
      assert(Buffer.isBuffer(body), 'the route of CloudEvents gets the bytes of the body');
      requireForm(mediaTypeOf(http), body);
      await ingest(body);
    },
  };
}

function requireForm(type: string | undefined, body: Buffer): void {
  if (type === JSON_TYPE) return;
  const isList = firstCharacter(body) === '[';
  if (type === BATCH_TYPE && !isList)
    throw new Refusal('invalid', `a body of ${BATCH_TYPE} must be a JSON array`);
  if (type === ONE_TYPE && isList)
    throw new Refusal('invalid', `a body of ${ONE_TYPE} must be a JSON object`);
  if (type !== BATCH_TYPE && type !== ONE_TYPE) {
    throw new Refusal('unsupported', `Content-Type must be ${ONE_TYPE}, ${BATCH_TYPE} or ${JSON_TYPE}`);
  }
}

/** The first character, among those that JSON may begin with. */
function firstCharacter(body: Buffer): string {
  const at = body.findIndex((byte) => byte > SPACE);
  return at < 0 ? '' : String.fromCharCode(body[at] ?? 0);
}

const SPACE = 0x20;
