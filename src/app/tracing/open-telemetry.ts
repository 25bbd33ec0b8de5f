/**
 * The tracer that sends spans to a collector, over OTLP/HTTP. The only file that depends on OpenTelemetry; it is loaded
 * only if a collector is configured.
 *
 * Spans wait in a queue of fixed size and are sent in the background: a slow or unavailable collector costs spans,
 * never requests. Nothing is registered globally; the current span is kept here.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Context,
  type Span as OpenSpan,
  ROOT_CONTEXT,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type TextMapGetter,
  trace,
} from '@opentelemetry/api';
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Span, Tracer, Tracing } from '../../core/tracing.ts';
import type { Logger } from '../../log.ts';
import { createScopeKey, type ScopeKey } from '../../runtime/request-scope.ts';
import { VERSION } from '../../version.ts';

const NAME = 'tallyhouse';
/** The maximum wait at the end of the process. */
const CLOSE_MS_MAX = 2_000;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

/** Sampling, queue, headers and resource are set by the variables of OpenTelemetry, which its libraries read. */
export function startOpenTelemetry(endpoint: string, log: Logger): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const own = resourceFromAttributes({ 'service.name': NAME, 'service.version': VERSION });
  const provider = new BasicTracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(tellingOnce(exporter, log))],
  });
  const tracer = createTracer((name, options, context) =>
    provider.getTracer(NAME, VERSION).startSpan(name, options, context),
  );
  return {
    tracer,
    async close() {
      const limit = new AbortController();
      const timeUp = delay(CLOSE_MS_MAX, undefined, { signal: limit.signal });
      // Spans that the collector has not accepted by then are lost; the log has reported that it is unavailable.
      await Promise.race([provider.shutdown(), timeUp]).catch(() => {});
      limit.abort();
      await timeUp.catch(() => {});
    },
  };
}

/** The same exporter. The log has one warning when spans cannot be sent, until sending succeeds again. */
function tellingOnce(exporter: SpanExporter, log: Logger): SpanExporter {
  let isFailing = false;
  return {
    export(spans, onResult) {
      exporter.export(spans, (result) => {
        if (result.code === ExportResultCode.SUCCESS) isFailing = false;
        else {
          if (!isFailing)
            log.warn({ err: result.error }, 'traces cannot be sent: spans are lost until they can');
          isFailing = true;
        }
        onResult(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => await exporter.forceFlush?.(),
  };
}

type StartSpan = (name: string, options: SpanOptions, context: Context) => OpenSpan;

interface TraceHeaders {
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

const HEADERS: TextMapGetter<TraceHeaders> = {
  keys: () => ['traceparent', 'tracestate'],
  get: (headers, key) => (key === 'traceparent' || key === 'tracestate' ? headers[key] : undefined),
};

function createTracer(startSpan: StartSpan): Tracer {
  const around = createScopeKey<OpenSpan>('span');
  const w3c = new W3CTraceContextPropagator();
  /** Timers started within a request outlive it: a span that has ended, or is not sampled, does not count. */
  const recording = () => {
    const span = around.get();
    return span?.isRecording() === true ? span : undefined;
  };
  return {
    trace(name, { kind, parent, links = [], facts = {} }, task) {
      const options = {
        kind: KINDS[kind],
        links: links.map((context) => ({ context })),
        attributes: { ...facts },
      };
      const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
      return runIn(around, startSpan(name, options, context), task);
    },
    step(name, facts, task) {
      const parent = recording();
      if (parent === undefined) return task(NOT_RECORDED);
      return runIn(
        around,
        startSpan(name, { attributes: { ...facts } }, trace.setSpan(ROOT_CONTEXT, parent)),
        task,
      );
    },
    current: () => recording()?.spanContext(),
    continued: (traceparent, tracestate) =>
      trace.getSpanContext(w3c.extract(ROOT_CONTEXT, { traceparent, tracestate }, HEADERS)),
  };
}

const NOT_RECORDED: Span = { set: () => {}, fail: () => {} };

/** Ends the span when the task has ended. A failure is reported by its name only: messages may quote values. */
function runIn<Result>(around: ScopeKey<OpenSpan>, span: OpenSpan, task: (span: Span) => Result): Result {
  const fail = (error: unknown): never => {
    span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    throw error;
  };
  const told: Span = {
    set: (facts) => void span.setAttributes({ ...facts }),
    fail: () => void span.setStatus({ code: SpanStatusCode.ERROR }),
  };
  const end = (value: unknown) => {
    span.end();
    return value as Result;
  };
  try {
    const result = around.run(span, () => task(told));
    return result instanceof Promise ? (result.then(end, fail) as Result) : end(result);
  } catch (error) {
    return fail(error);
  }
}
