/**
 * Whether traces are recorded. Without `OTEL_EXPORTER_OTLP_ENDPOINT` nothing of OpenTelemetry is loaded, and nothing
 * is recorded (docs/how-to/operations.md).
 */
import { NO_TRACER, type Tracing } from '../../core/tracing.ts';
import type { Logger } from '../../log.ts';

/** `endpoint` is the base URL of the collector: spans go to `v1/traces` below it. */
export async function startTracing(endpoint: string | undefined, log: Logger): Promise<Tracing> {
  if (endpoint === undefined) return { tracer: NO_TRACER, close: async () => {} };
  const { startOpenTelemetry } = await import('./open-telemetry.ts');
  return startOpenTelemetry(endpoint, log);
}
