/**
 * Prometheus figures: how long requests take, by route and status, and whatever the service counts.
 * Every app has a registry of its own, so that two in one process do not add up.
 */
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export interface HttpMetrics {
  observe(method: string, route: string, status: number, seconds: number): void;
}

/** A figure that some part of the service keeps: a counter only ever grows, a gauge moves. */
export interface Measure {
  /** `tallyhouse_<what>_<unit>`, counters ending in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  /** Tells measures of one name apart, which follow one another. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** From half a millisecond to ten seconds: ingest is at the lower end, an invoice run at the upper. */
const DURATION_BUCKETS_SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

export interface Metrics extends HttpMetrics {
  /** The Prometheus text format. */
  expose(): Promise<string>;
}

export function createMetrics(measures: () => readonly Measure[]): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: 'tallyhouse_http_request_duration_seconds',
    help: 'Time from the first byte of a request to its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  });
  return {
    observe: (method, route, status, seconds) => durations.observe({ method, route, status }, seconds),
    expose: async () => `${await registry.metrics()}\n${exposeMeasures(measures())}`,
  };
}

function exposeMeasures(measures: readonly Measure[]): string {
  return measures.map((one, index) => headOf(one, measures[index - 1]) + sampleOf(one)).join('');
}

/** Once for each name. */
function headOf({ name, help, type }: Measure, previous: Measure | undefined): string {
  return name === previous?.name ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function sampleOf({ name, labels = {}, value }: Measure): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
}
