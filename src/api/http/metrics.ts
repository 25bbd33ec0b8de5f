/**
 * Prometheus metrics: request durations by route and status, and the measures of the service's parts.
 * Every app has its own registry, so that two apps in one process are counted separately.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface HttpMetrics {
  observe(method: string, route: string, status: number, seconds: number): void;
}

/** Adds measures to a registry. */
export type RegisterMeasures = (registry: Registry) => void;

/** From half a millisecond to ten seconds: ingest is at the lower end, an invoice run at the upper. */
const DURATION_BUCKETS_SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

export interface Metrics extends HttpMetrics {
  /** The Prometheus text format. The metrics of the Node.js process begin with the first call. */
  expose(): Promise<string>;
}

export function createMetrics(registerMeasures: RegisterMeasures): Metrics {
  const registry = new Registry();
  let areProcessMetricsOn = false;
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
    expose() {
      // They have a timer of 10 ms, which costs a hundredth of a core: only a process that is scraped pays for it.
      if (!areProcessMetricsOn) collectDefaultMetrics({ register: registry });
      areProcessMetricsOn = true;
      return registry.metrics();
    },
  };
}

/** A value that a part of the service maintains and that is read on each scrape. */
export type Measure = {
  /** `tallyhouse_<what>_<unit>`, counters ending in `_total`. */
  readonly name: string;
  readonly help: string;
} & (
  | { value(): number }
  | {
      /** Name of the label. */
      readonly label: string;
      /** By label value. */
      values(): ReadonlyMap<string, number>;
    }
);

/** Registers a measure that never decreases. */
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

/** Registers a measure that may decrease. */
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

/** Registers times and returns who takes them. */
export function registerTimes(
  registry: Registry,
  head: Pick<Measure, 'name' | 'help'>,
): (seconds: number) => void {
  const times = new Histogram({ ...head, buckets: DURATION_BUCKETS_SECONDS, registers: [registry] });
  return (seconds) => times.observe(seconds);
}

function headOf(measure: Measure) {
  const { name, help } = measure;
  return { name, help, labelNames: 'label' in measure ? [measure.label] : [] };
}

function samplesOf(measure: Measure): [labels: Record<string, string>, value: number][] {
  if (!('label' in measure)) return [[{}, measure.value()]];
  return [...measure.values()].map(([text, value]) => [{ [measure.label]: text }, value]);
}
