/**
 * Routes about the service itself: liveness, readiness, metrics and the API reference. They need no token.
 */
import { z } from 'zod';
import { Refusal } from '../../../core/errors.ts';
import { llmsText } from '../../http/llms-text.ts';
import type { Metrics } from '../../http/metrics.ts';
import type { OpenApiDocument } from '../../http/openapi.ts';
import { REFERENCE_HEADERS, referencePage } from '../../http/reference-page.ts';
import { type RouteDefinition, route } from '../../http/route.ts';

/** Whether each store or other part that requests need is ready, by name. */
export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, boolean>>;
  /** The faults and their remedies, a line each. */
  readonly problems?: readonly string[];
  /** The identity of the database (`store/service/database-identity.ts`); null: not known. */
  readonly dataId?: string | null;
}

export interface ServiceParts {
  readonly version: string;
  readonly metrics: Metrics;
  readiness(): Promise<Readiness>;
  /** The OpenAPI document of all routes. Called on the first read. */
  document(): OpenApiDocument;
}

const TAGS = ['Service'];

const checks = z.record(z.string(), z.boolean()).meta({ description: 'The state of each part, by name.' });

const notReady = z
  .object({ message: z.string(), checks: checks.optional() })
  .meta({ id: 'NotReady', description: 'An error that names what is missing.' });

export function serviceRoutes(context: ServiceParts): RouteDefinition[] {
  return [
    healthRoute(context),
    readinessRoute(context),
    metricsRoute(context),
    documentRoute(context),
    docsRoute(context),
    llmsRoute(context),
  ];
}

function healthRoute(context: ServiceParts): RouteDefinition {
  return route({
    method: 'get',
    path: '/healthz',
    operationId: 'health',
    summary: 'Is the process alive?',
    tags: TAGS,
    scope: 'public',
    response: z.object({ status: z.literal('ok'), version: z.string() }).meta({ id: 'Health' }),
    handler: async () => ({ status: 'ok' as const, version: context.version }),
  });
}

function readinessRoute(context: ServiceParts): RouteDefinition {
  return route({
    method: 'get',
    path: '/readyz',
    operationId: 'readiness',
    summary: 'Check whether the service is ready for requests',
    description: '200 if both stores answer and no stored event is missing; otherwise 503 with what to do.',
    tags: TAGS,
    scope: 'public',
    errors: [503],
    errorBody: notReady,
    response: z
      .object({
        status: z.literal('ready'),
        checks,
        data_id: z.string().optional().meta({
          description: 'Which database it has: `tallyhouse doctor` compares it with that of its settings.',
        }),
      })
      .meta({ id: 'Readiness' }),
    async handler() {
      const readiness = await context.readiness();
      const { dataId } = readiness;
      if (readiness.ready) {
        return {
          status: 'ready' as const,
          checks: { ...readiness.checks },
          ...(dataId == null ? {} : { data_id: dataId }),
        };
      }
      const missing = Object.keys(readiness.checks).filter((name) => readiness.checks[name] === false);
      throw new Refusal(
        'unavailable',
        [`Not ready: ${missing.join(', ')}`, ...(readiness.problems ?? [])].join('. '),
        {
          details: { checks: readiness.checks },
        },
      );
    },
  });
}

function metricsRoute(context: ServiceParts): RouteDefinition {
  return route({
    method: 'get',
    path: '/metrics',
    operationId: 'metrics',
    summary: 'Figures for Prometheus',
    tags: TAGS,
    scope: 'public',
    mediaType: 'text/plain; version=0.0.4; charset=utf-8',
    response: z.string(),
    handler: () => context.metrics.expose(),
  });
}

function documentRoute(context: ServiceParts): RouteDefinition {
  return route({
    method: 'get',
    path: '/openapi.json',
    operationId: 'openApiDocument',
    summary: 'This reference as an OpenAPI 3.1 document',
    tags: TAGS,
    scope: 'public',
    response: z.record(z.string(), z.unknown()),
    handler: async () => ({ ...context.document() }),
  });
}

function docsRoute(context: ServiceParts): RouteDefinition {
  return route({
    method: 'get',
    path: '/docs',
    operationId: 'reference',
    summary: 'This reference as a page',
    description:
      'Works offline: it loads nothing from anywhere else. Operations can be tried out, with the session of the console ' +
      'or with a token that is entered.',
    tags: TAGS,
    scope: 'public',
    mediaType: 'text/html; charset=utf-8',
    headers: REFERENCE_HEADERS,
    response: z.string(),
    handler: async () => referencePage(context.document().info),
  });
}

function llmsRoute(context: ServiceParts): RouteDefinition {
  let text: string | undefined;
  return route({
    method: 'get',
    path: '/llms.txt',
    operationId: 'referenceText',
    summary: 'This reference as a text',
    description: 'Every operation on a line, for readers that are programs.',
    tags: TAGS,
    scope: 'public',
    mediaType: 'text/plain; charset=utf-8',
    response: z.string(),
    async handler() {
      text ??= llmsText(context.document());
      return text;
    },
  });
}
