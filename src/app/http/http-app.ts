/**
 * Assembles the HTTP application from its parts. Creating it does no I/O; the caller has already wired the use cases to
 * their stores.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import type { Logger } from 'pino';
import type { ConsoleSessions } from '../../access/console-sessions.ts';
import type { TakeRequest } from '../../access/rate-limits.ts';
import type { RequestRecords } from '../../access/request-records.ts';
import type { Authenticate } from '../../access/tokens.ts';
import { type AnswerLimits, answerLimits, createAnswerStreams } from '../../api/http/answer-streams.ts';
import { createBodyBudget } from '../../api/http/body-budget.ts';
import { consoleFiles, registerConsole } from '../../api/http/console-files.ts';
import { type DashboardPages, registerDashboards } from '../../api/http/dashboard-page.ts';
import { createExchange } from '../../api/http/exchange.ts';
import { registerGuide } from '../../api/http/guide-pages.ts';
import { createMemoryBudget } from '../../api/http/memory-budget.ts';
import { createMetrics, type RegisterMeasures } from '../../api/http/metrics.ts';
import { type OpenApiDocument, openApiDocument } from '../../api/http/openapi.ts';
import { unreadableRequests } from '../../api/http/parser-errors.ts';
import { type ProviderPages, registerProviderPages } from '../../api/http/provider-pages.ts';
import { registerReference } from '../../api/http/reference-page.ts';
import { type ChangeGate, registerRoutes } from '../../api/http/register.ts';
import type { RouteDefinition } from '../../api/http/route.ts';
import { cloudEventRoutes, type IngestCloudEvents } from '../../api/routes/ingest/cloud-event-routes.ts';
import { type IngestSpans, otlpRoutes } from '../../api/routes/ingest/otlp-route.ts';
import { type Ingest, ingestRoute } from '../../api/routes/ingest/routes.ts';
import { type Readiness, serviceRoutes } from '../../api/routes/service/routes.ts';
import { PACKAGE_ROOT } from '../../core/package-root.ts';
import { memoryOfProcess } from '../../core/process-memory.ts';
import type { Tracer } from '../../core/tracing.ts';

const GUIDE = join(PACKAGE_ROOT, 'guide/site');

/** A hundred events of 20 KB, or the rates of a large price book. A larger body is refused while it is read. */
const BODY_LIMIT_BYTES = 2 * 1024 * 1024;
/**
 * The limit for all bodies together, from their arrival to the answer: 4,000 requests with a hundred ordinary events.
 */
const BODIES_LIMIT_BYTES = Math.min(128 * 1024 * 1024, memoryOfProcess() / 8);

/** Whether the guide is built: a package contains it, a checkout has it after `npm run guide`. */
export function hasGuide(): boolean {
  return existsSync(join(GUIDE, 'index.html'));
}

export interface AppParts {
  readonly version: string;
  readonly log: Logger;
  readonly tracer?: Tracer | undefined;
  readonly authenticate: Authenticate;
  /** Absent: there are no sessions of the console. */
  readonly sessions?: ConsoleSessions;
  /** Absent: nobody signs in at an identity provider. */
  readonly provider?: ProviderPages | undefined;
  /** Absent: there are no pages of dashboards. */
  readonly dashboards?: DashboardPages;
  readonly records?: RequestRecords;
  /** Absent: request rates are not limited. */
  readonly takeRequest?: TakeRequest;
  /** Absent: changes are always allowed. */
  readonly changes?: ChangeGate | undefined;
  /** Every route but ingest and those of the service itself. */
  readonly routes: readonly RouteDefinition[];
  /** By default true: requests about money with unknown fields are refused. */
  readonly strictFields?: boolean;
  readonly ingest: Ingest;
  /** Refuses events before they are read, if there is no room for any. */
  readonly admitEvents?: () => void;
  readonly ingestSpans: IngestSpans;
  readonly ingestCloudEvents: IngestCloudEvents;
  readonly bodyLimitBytes?: number;
  readonly bodiesLimitBytes?: number;
  /** The memory limit of all answers; by default derived from that of the process. */
  readonly answerLimits?: AnswerLimits;
  readiness(): Promise<Readiness>;
  /** The missing disk space of the stores. */
  readonly shortage?: (() => Promise<string | null>) | undefined;
  /** Adds the metrics of the service to `/metrics`. */
  readonly measures: RegisterMeasures;
}

export interface App {
  readonly hono: Hono;
  /** All routes of the app; tests check each answer against its route. */
  readonly routes: readonly RouteDefinition[];
  /** For the event `clientError` of the server: answers input that is not HTTP. */
  readonly refuseUnreadable: ReturnType<typeof unreadableRequests>;
}

export function createApp(parts: AppParts): App {
  const { admitEvents = () => undefined } = parts;
  const metrics = createMetrics(parts.measures);
  let document: OpenApiDocument | undefined;
  const routes: RouteDefinition[] = [
    ...parts.routes,
    ingestRoute(parts.ingest, admitEvents),
    ...otlpRoutes(parts.ingestSpans, admitEvents),
    ...cloudEventRoutes(parts.ingestCloudEvents, admitEvents),
    ...serviceRoutes({
      version: parts.version,
      metrics,
      readiness: parts.readiness,
      document: () => {
        document ??= openApiDocument(routes, parts.version);
        return document;
      },
    }),
  ];
  const hono = new Hono();
  const { log, authenticate } = parts;
  const bodies = {
    limitBytes: parts.bodyLimitBytes ?? BODY_LIMIT_BYTES,
    budget: createBodyBudget(parts.bodiesLimitBytes ?? BODIES_LIMIT_BYTES),
  };
  const { shortage } = parts;
  const exchange = createExchange({ log, metrics, shortage, ...(parts.tracer && { tracer: parts.tracer }) });
  // A browser that opens the service gets the console.
  hono.get('/', (context) => context.redirect('/console'));
  const { sessions, records, takeRequest, changes, strictFields = true } = parts;
  const limits = parts.answerLimits ?? answerLimits();
  const memory = createMemoryBudget(limits);
  const streams = createAnswerStreams(limits, memory);
  const answers = { streams, memory };
  const given = {
    ...{ exchange, authenticate, sessions, bodies, records, takeRequest, changes },
    ...answers,
    strictFields,
  };
  registerRoutes(hono, given, routes);
  const { provider: pages } = parts;
  const enter = () => changes?.enter() ?? (() => undefined);
  if (pages !== undefined) registerProviderPages(hono, { exchange, bodies, enter, pages });
  const files = consoleFiles(join(PACKAGE_ROOT, 'dist/console'));
  registerConsole(hono, exchange, files);
  registerReference(hono, exchange, consoleFiles(join(PACKAGE_ROOT, 'dist/reference')));
  registerGuide(hono, exchange, consoleFiles(GUIDE));
  if (parts.dashboards !== undefined) registerDashboards(hono, exchange, files, parts.dashboards);
  return { hono, routes, refuseUnreadable: unreadableRequests(metrics) };
}
