/**
 * Counts each call of an export request once: compares it with the other spans of the request, with recent calls of
 * this process, and with stored ones.
 */
import { MINUTE_MS } from '../../core/time.ts';
import { answerOf, type CountedCall, callOfEvent, formOf, spanKey } from './counted-call.ts';
import { createKnownCalls } from './known-calls.ts';
import { restatedCalls, type TakenSpan } from './restated-calls.ts';
import type { Span } from './span.ts';
import { IGNORED, type SpanEvent, type SpanOutcome } from './span-event.ts';
import type { StoredCalls } from './stored-calls.ts';
import { hasCounts } from './token-counts.ts';

export interface CountOnce {
  /** The outcomes of the spans of a request, given all others. Records those that are billed. */
  outcomes(
    spans: readonly Span[],
    alone: ReadonlyMap<Span, SpanOutcome>,
  ): Promise<ReadonlyMap<Span, SpanOutcome>>;
  /** Removes events that could not be stored. */
  forget(events: readonly SpanEvent[]): void;
}

type EventOutcome = Extract<SpanOutcome, { kind: 'event' }>;

export function createCountOnce(
  stored: StoredCalls | undefined,
  onFailure: (error: unknown) => void,
): CountOnce {
  const { recent, find } = createKnownCalls(stored, onFailure);
  const remembered = new WeakMap<SpanEvent, CountedCall>();

  return {
    async outcomes(spans, alone) {
      const calls = spans.flatMap((span) => callOf(alone.get(span)) ?? []);
      const ids = calls.map(({ transactionId }) => transactionId).filter(isOfUnknownForm);
      const known = await find(calls, spans, [...new Set(ids)]);
      // Nothing is awaited from here on, so that another request sees the calls of this one.
      const identified = identify(spans, alone, known.byId);
      const taken = spans.map((span): TakenSpan => {
        const call = callOf(identified.get(span));
        return { span, call, hasCounts: call !== null || isRefusedWithCounts(span, alone.get(span)) };
      });
      const restated = restatedCalls(taken, known.inTraces());
      const result = new Map<Span, SpanOutcome>();
      for (const span of spans) {
        const outcome = restated.spans.has(span) ? IGNORED : (identified.get(span) ?? IGNORED);
        result.set(span, withWarning(outcome, restated.warnings.get(span), known.isComplete));
        const call = callOf(outcome);
        if (outcome.kind !== 'event' || call === null) continue;
        recent.add(call);
        remembered.set(outcome.event, call);
      }
      return result;
    },
    forget(events) {
      for (const event of events) {
        const call = remembered.get(event);
        if (call !== undefined) recent.remove(call);
      }
    },
  };
}

function callOf(outcome: SpanOutcome | undefined): CountedCall | null {
  return outcome?.kind === 'event' ? callOfEvent(outcome.event, Date.parse(outcome.event.timestamp)) : null;
}

function isRefusedWithCounts(span: Span, outcome: SpanOutcome | undefined): boolean {
  return outcome?.kind === 'refused' && hasCounts(span);
}

const NOT_READ =
  'may be counted by a span of its trace that was stored before, which could not be read: it is billed';

function withWarning(outcome: SpanOutcome, warning: string | undefined, isComplete: boolean): SpanOutcome {
  if (outcome.kind !== 'event') return outcome;
  const added = [...(warning === undefined ? [] : [warning]), ...(isComplete ? [] : [NOT_READ])];
  return added.length === 0 ? outcome : { ...outcome, warnings: [...outcome.warnings, ...added] };
}

function isOfUnknownForm(transactionId: string): boolean {
  const answer = answerOf({ transactionId });
  return answer !== null && formOf(answer) === '';
}

/**
 * Events by the id of the answer, unless the id has no known form and belongs to another call already: a caller may
 * have chosen it for several.
 */
function identify(
  spans: readonly Span[],
  alone: ReadonlyMap<Span, SpanOutcome>,
  find: (transactionId: string) => CountedCall | undefined,
): ReadonlyMap<Span, SpanOutcome> {
  const ofRequest = new Map<string, CountedCall>();
  const identified = new Map<Span, SpanOutcome>();
  for (const [span, outcome] of alone) identified.set(span, outcome);
  for (const span of spans) {
    const outcome = alone.get(span);
    const call = callOf(outcome);
    if (outcome?.kind !== 'event' || call === null || !isOfUnknownForm(call.transactionId)) continue;
    const first = ofRequest.get(call.transactionId) ?? find(call.transactionId);
    if (first === undefined) ofRequest.set(call.transactionId, call);
    else if (!agree(first, call)) identified.set(span, bySpan(outcome, call));
  }
  return identified;
}

/** Two reports of one call end within this time. */
const AGREE_MS = 5 * MINUTE_MS;

function agree(one: CountedCall, other: CountedCall): boolean {
  return (
    one.customer === other.customer &&
    one.input === other.input &&
    one.output === other.output &&
    Math.abs(one.endedAt - other.endedAt) <= AGREE_MS
  );
}

const ANOTHER_CALL =
  'has an id of its answer that another call has, with another customer, other counts or minutes earlier or later: it ' +
  'is billed by its trace and span';

function bySpan(outcome: EventOutcome, call: CountedCall): SpanOutcome {
  const event = { ...outcome.event, transaction_id: spanKey(call) };
  return { ...outcome, event, warnings: [...outcome.warnings, ANOTHER_CALL] };
}
