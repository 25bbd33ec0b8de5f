/**
 * Prometheus figures: how long requests take, by route and status, and whatever the service counts.
 * Every app has a registry of its own, so that two in one process do not add up.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface HttpMetrics {
  observe(method: string, route: string, status: number, seconds: number): void;
}

/** Adds the figures of some parts of the service to a registry. */
export type RegisterMeasures = (registry: Registry) => void;

/** From half a millisecond to ten seconds: ingest is at the lower end, an invoice run at the upper. */
const DURATION_BUCKETS_SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

export interface Metrics extends HttpMetrics {
  /** The Prometheus text format. */
  expose(): Promise<string>;
}

export function createMetrics(registerMeasures: RegisterMeasures): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: 'tallyhouse_http_request_duration_seconds',
    help: 'Time from the first byte of a request to its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  });
  registerMeasures(registry);
  return {
    observe: (method, route, status, seconds) => durations.observe({ method, route, status }, seconds),
    expose: () => registry.metrics(),
  };
}

/** A figure that some part of the service keeps and that is read at each scrape. */
export type Measure = {
  /** `tallyhouse_<what>_<unit>`, counters ending in `_total`. */
  readonly name: string;
  readonly help: string;
} & (
  | { value(): number }
  | {
      /** Tells the samples apart. */
      readonly label: string;
      /** By the text of the label. */
      values(): ReadonlyMap<string, number>;
    }
);

/** A measure that only ever grows. */
export function registerCounter(registry: Registry, measure: Measure): void {
  const counter = new Counter({
    ...headOf(measure),
    registers: [registry],
    collect() {
      counter.reset();
      for (const [labels, value] of samplesOf(measure)) counter.inc(labels, value);
    },
  });
}

/** A measure that goes up and down. */
export function registerGauge(registry: Registry, measure: Measure): void {
  const gauge = new Gauge({
    ...headOf(measure),
    registers: [registry],
    collect() {
      gauge.reset();
      for (const [labels, value] of samplesOf(measure)) gauge.set(labels, value);
    },
  });
}

function headOf(measure: Measure) {
  const { name, help } = measure;
  return { name, help, labelNames: 'label' in measure ? [measure.label] : [] };
}

function samplesOf(measure: Measure): [labels: Record<string, string>, value: number][] {
  if (!('label' in measure)) return [[{}, measure.value()]];
  return [...measure.values()].map(([text, value]) => [{ [measure.label]: text }, value]);
}
