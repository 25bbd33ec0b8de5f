/**
 * Traces: which work belongs to which request or job, and how long each part took.
 *
 * Types, and the tracer that records nothing. `app/tracing/` has the one that sends spans to a collector; nothing
 * else knows how that is done. Names and facts never hold secrets, bodies, or the text of statements.
 */

/** Names a span in other traces. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

/** The known facts of a piece of work. */
export type TraceFacts = Readonly<Record<string, string | number>>;

export interface Span {
  set(facts: TraceFacts): void;
  /** Marks the work as failed, where it does not throw. */
  fail(): void;
}

interface TracedWork {
  readonly kind: 'server' | 'client' | 'internal';
  /** Whose trace it continues; absent: it begins one. */
  readonly parent?: TraceContext | undefined;
  /** Other work that it is done for. */
  readonly links?: readonly TraceContext[];
  readonly facts?: TraceFacts;
}

/** Both functions return what `task` returns, and end their span when that is settled. A failure is passed on. */
export interface Tracer {
  /** Runs `task` as a separate span. */
  trace<Result>(name: string, work: TracedWork, task: (span: Span) => Result): Result;
  /** Runs `task` as a part of the recorded span that it is called in. Outside of one, nothing is recorded. */
  step<Result>(name: string, facts: TraceFacts, task: (span: Span) => Result): Result;
  /** The recorded span that this is called in. */
  current(): TraceContext | undefined;
  /** The span that a caller names in its W3C headers; undefined where they are missing or malformed. */
  continued(traceparent: string | undefined, tracestate: string | undefined): TraceContext | undefined;
}

/** A tracer and its end. */
export interface Tracing {
  readonly tracer: Tracer;
  /** Sends what is recorded, within two seconds. */
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

/** Most requests that a span of shared work names. */
const LINKS_MAX = 32;

/** Adds to the work that shared work is done for; of many, the first ones are kept. */
export function addLinks(links: TraceContext[], more: readonly TraceContext[]): void {
  for (const context of more.slice(0, LINKS_MAX - links.length)) links.push(context);
}

/** Runs work that several requests share in the trace of the first one, linked to all; without any, unrecorded. */
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
