/** The routes and figures of this source without a service: nothing of them is carried out. */
import type { Registry } from 'prom-client';
import { createMetrics } from '../../src/api/http/metrics.ts';
import type { RouteDefinition } from '../../src/api/http/route.ts';
import type { RouteContext } from '../../src/api/routes/route-context.ts';
import { serviceFigures } from '../../src/app/application/service-figures.ts';
import { createApp } from '../../src/app/http/http-app.ts';
import { everyRoute } from '../../src/app/http/routes.ts';

/** Answers every question with itself: no handler runs, so nothing is asked of it. */
const nothing: object = new Proxy(() => nothing, { get: () => nothing, apply: () => nothing });

export function everyRouteOfApp(): readonly RouteDefinition[] {
  const app = createApp({
    ...(nothing as Parameters<typeof createApp>[0]),
    measures: () => undefined,
    routes: everyRoute(nothing as RouteContext),
  });
  return app.routes;
}

export interface Figure {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labels: readonly string[];
}

/** The figures of `/metrics` that are the service's own, by name. */
export function everyFigure(): readonly Figure[] {
  const figures: Figure[] = [];
  createMetrics((registry: Registry) => {
    serviceFigures(nothing as Parameters<typeof serviceFigures>[0])(registry);
    for (const metric of registry.getMetricsAsArray() as unknown as PromMetric[]) {
      if (!metric.name.startsWith('tallyhouse_')) continue;
      const { name, help, labelNames = [] } = metric;
      figures.push({ name, help, type: metric.constructor.name.toLowerCase(), labels: [...labelNames] });
    }
  });
  return figures.sort((a, b) => (a.name < b.name ? -1 : 1));
}

interface PromMetric {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}
