/**
 * Traces: which request or job work belongs to, and how long each part took.
 *
 * Types, and a tracer that records nothing. `app/tracing/` has the one that sends spans to a collector; no other module
 * depends on how that is done. Names and facts never contain secrets, bodies, or the text of statements.
 */

/** Identifies a span in other traces. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

/** Attributes of a piece of work. */
export type TraceFacts = Readonly<Record<string, string | number>>;

export interface Span {
  set(facts: TraceFacts): void;
  /** Marks the work as failed, where it does not throw. */
  fail(): void;
}

interface TracedWork {
  readonly kind: 'server' | 'client' | 'internal';
  /** The parent span; absent: the span begins a trace. */
  readonly parent?: TraceContext | undefined;
  /** Other work that it also serves. */
  readonly links?: readonly TraceContext[];
  readonly facts?: TraceFacts;
}

/** Both functions return the result of `task`, and end their span when it settles. A failure is passed on. */
export interface Tracer {
  /** Runs `task` as a separate span. */
  trace<Result>(name: string, work: TracedWork, task: (span: Span) => Result): Result;
  /** Runs `task` as a child of the current recorded span. Outside of one, nothing is recorded. */
  step<Result>(name: string, facts: TraceFacts, task: (span: Span) => Result): Result;
  /** The current recorded span. */
  current(): TraceContext | undefined;
  /** The span that a caller names in its W3C headers; undefined where they are missing or malformed. */
  continued(traceparent: string | undefined, tracestate: string | undefined): TraceContext | undefined;
}

/** A tracer and its end. */
export interface Tracing {
  readonly tracer: Tracer;
  /** Sends the recorded spans, within two seconds. */
  close(): Promise<void>;
}

const NO_SPAN: Span = { set: () => {}, fail: () => {} };

/** Records nothing. */
export const NO_TRACER: Tracer = {
  trace: (_name, _work, task) => task(NO_SPAN),
  step: (_name, _facts, task) => task(NO_SPAN),
  current: () => undefined,
  continued: () => undefined,
};

/** Maximum requests that a span of shared work links to. */
const LINKS_MAX = 32;

/** Adds to the work that shared work is done for; beyond the limit the first ones are kept. */
export function addLinks(links: TraceContext[], more: readonly TraceContext[]): void {
  for (const context of more.slice(0, LINKS_MAX - links.length)) links.push(context);
}

/**
 * Runs work that several requests share in the trace of the first one, linked to all; without any request, unrecorded.
 */
export function traceShared<Result>(
  tracer: Tracer,
  name: string,
  { links, facts }: { readonly links: readonly TraceContext[]; readonly facts: TraceFacts },
  task: () => Result,
): Result {
  const [parent] = links;
  if (parent === undefined) return task();
  return tracer.trace(name, { kind: 'client', parent, links, facts }, task);
}
