/**
 * Puts the HTTP application together from its parts. Creating it does no I/O; the caller has already wired the use
 * cases to their stores.
 */
import { Hono } from 'hono';
import type { Logger } from 'pino';
import type { Authenticate } from '../access/tokens.ts';
import { createExchange } from '../api/http/exchange.ts';
import { createMetrics, type RegisterMeasures } from '../api/http/metrics.ts';
import { type OpenApiDocument, openApiDocument } from '../api/http/openapi.ts';
import { registerRoutes } from '../api/http/register.ts';
import type { RouteDefinition } from '../api/http/route.ts';
import { type Ingest, ingestRoute } from '../api/routes/ingest/routes.ts';
import { type Readiness, serviceRoutes } from '../api/routes/service/routes.ts';

/**
 * A hundred events of 20 KB, or the rates of a large price book. What is above it is refused while it
 * is read, so that memory stays bounded by the number of connections.
 */
const BODY_LIMIT_BYTES = 2 * 1024 * 1024;

export interface AppDeps {
  readonly version: string;
  readonly log: Logger;
  readonly authenticate: Authenticate;
  /** Every route but ingest and those of the service itself. */
  readonly routes: readonly RouteDefinition[];
  readonly ingest: Ingest;
  readonly bodyLimitBytes?: number;
  readiness(): Promise<Readiness>;
  /** Adds the figures of the service to those of `/metrics`. */
  readonly measures: RegisterMeasures;
}

export interface App {
  readonly hono: Hono;
  /** Everything the app answers; tests check each answer against it. */
  readonly routes: readonly RouteDefinition[];
}

export function createApp(deps: AppDeps): App {
  const metrics = createMetrics(deps.measures);
  let document: OpenApiDocument | undefined;
  const routes: RouteDefinition[] = [
    ...deps.routes,
    ingestRoute(deps.ingest),
    ...serviceRoutes({
      version: deps.version,
      metrics,
      readiness: deps.readiness,
      document: () => {
        document ??= openApiDocument(routes, deps.version);
        return document;
      },
    }),
  ];
  const hono = new Hono();
  const { log, authenticate, bodyLimitBytes = BODY_LIMIT_BYTES } = deps;
  const exchange = createExchange({ log, metrics });
  // Whoever opens the service in a browser finds the reference.
  hono.get('/', (context) => context.redirect('/docs'));
  registerRoutes(hono, { exchange, authenticate, bodyLimitBytes }, routes);
  return { hono, routes };
}
