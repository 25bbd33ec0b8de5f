/**
 * Tells the spans of a request that restate what others count: a workflow or a generation with the sums of its calls,
 * and an attempt without counts beside the call that has them.
 *
 * Looks at the spans of one request. Spans whose attributes say that they are no call (`gen-ai.ts`) are recognised
 * without this.
 */
import { isAttempt, responseIdOf } from './call-identity.ts';
import { isAroundCalls } from './gen-ai.ts';
import type { Span } from './span.ts';
import { sentCounts, type TokenCounts } from './token-counts.ts';
import { Unbillable } from './unbillable.ts';

/** Spans lie in each other to a depth that a program has written. */
const DEPTH_MAX = 64;

interface Call {
  readonly span: Span;
  readonly isAround: boolean;
  /** Null without any. Wrong ones are refused on their own. */
  readonly counts: TokenCounts | 'wrong' | null;
  /** Sums of the nearest spans with counts inside it. */
  input: bigint;
  output: bigint;
  /** Whether it and a span with counts lie in each other without an agent or a tool between them. */
  isBesideCounts: boolean;
}

/** The spans of a request that are not billed because others are. */
export function restatedCalls(spans: readonly Span[]): ReadonlySet<Span> {
  const calls = new Map(spans.map((span) => [keyOf(span.traceId, span.spanId), callOf(span)]));
  for (const call of calls.values()) addToOuter(call, calls);
  const restated = new Set<Span>();
  for (const call of calls.values()) if (isRestated(call)) restated.add(call.span);
  return restated;
}

function callOf(span: Span): Call {
  const isAround = isAroundCalls(span.attributes);
  const counts = isAround ? null : countsOf(span);
  return { span, isAround, counts, input: 0n, output: 0n, isBesideCounts: false };
}

function countsOf(span: Span): TokenCounts | 'wrong' | null {
  try {
    return sentCounts(span);
  } catch (error) {
    if (error instanceof Unbillable) return 'wrong';
    throw error;
  }
}

/** Adds the counts of a call to the spans around it, up to the nearest one that has counts too. */
function addToOuter(call: Call, calls: ReadonlyMap<string, Call>): void {
  const { traceId } = call.span;
  const counts = call.counts instanceof Map ? call.counts : null;
  let isDirect = !call.isAround;
  let outer = calls.get(keyOf(traceId, call.span.parentSpanId));
  for (let depth = 0; outer !== undefined && outer !== call && depth < DEPTH_MAX; depth += 1) {
    isDirect &&= !outer.isAround;
    outer.input += counts?.get('input_tokens') ?? 0n;
    outer.output += counts?.get('output_tokens') ?? 0n;
    if (isDirect && counts !== null) outer.isBesideCounts = true;
    if (outer.counts !== null) {
      if (isDirect) call.isBesideCounts = true;
      return;
    }
    outer = calls.get(keyOf(traceId, outer.span.parentSpanId));
  }
}

function isRestated({ span, counts, input, output, isBesideCounts }: Call): boolean {
  if (counts === 'wrong') return false;
  if (counts === null) return isBesideCounts || isAttempt(span);
  // A span with an answer is a call, and the same call as others with that answer.
  if (input + output === 0n || responseIdOf(span.attributes) !== null) return false;
  return (counts.get('input_tokens') ?? 0n) === input && (counts.get('output_tokens') ?? 0n) === output;
}

function keyOf(traceId: string, spanId: string): string {
  return `${traceId}:${spanId}`;
}
