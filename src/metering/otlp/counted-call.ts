/** The tokens of a span, and its place in its trace: by these two spans are known to count the same tokens. Pure. */
import type { Instant } from '../../core/time.ts';

/** The tokens that an event counts. */
export interface CountedTokens {
  /** Those of a cache included. */
  readonly input: bigint;
  readonly uncached: bigint;
  readonly output: bigint;
}

/** A span whose tokens are counted, as its event has it. */
export interface CountedCall extends CountedTokens {
  readonly transactionId: string;
  readonly customer: string;
  readonly endedAt: Instant;
  /** Empty in events of versions that did not keep them. */
  readonly traceId: string;
  readonly spanId: string;
  /** Empty if it is the first one of its trace. */
  readonly parentSpanId: string;
}

/** The properties of an event by which spans of one trace find each other. */
export const TRACE_PROPERTY = 'trace_id';
export const SPAN_PROPERTY = 'span_id';
export const PARENT_PROPERTY = 'parent_span_id';

/** How the transaction id of a call begins that is known by its answer. */
export const ANSWER_PREFIX = 'genai:';

/** The part of an event that tells calls apart, as it is sent to ingestion or was stored. */
export interface CallEvent {
  readonly transaction_id: string;
  readonly customer_id: string;
  readonly properties: Readonly<Record<string, string>>;
}

export function callOfEvent(event: CallEvent, endedAt: Instant): CountedCall {
  const { properties } = event;
  const count = (name: string) => countOf(properties[name]);
  const uncached = count('input_tokens');
  return {
    transactionId: event.transaction_id,
    customer: event.customer_id,
    endedAt,
    traceId: properties[TRACE_PROPERTY] ?? '',
    spanId: properties[SPAN_PROPERTY] ?? '',
    parentSpanId: properties[PARENT_PROPERTY] ?? '',
    uncached,
    input: uncached + count('cached_input_tokens') + count('cached_write_tokens'),
    output: count('output_tokens'),
  };
}

/** Events with this type and such an id may come from elsewhere too: a count that is none is 0. */
function countOf(text: string | undefined): bigint {
  return text !== undefined && /^\d{1,18}$/.test(text) ? BigInt(text) : 0n;
}

/** The id of the answer that a call is known by; null if it is known by trace and span. */
export function answerOf({ transactionId }: Pick<CountedCall, 'transactionId'>): string | null {
  return transactionId.startsWith(ANSWER_PREFIX) ? transactionId.slice(ANSWER_PREFIX.length) : null;
}

/** How the ids of answers begin that providers and gateways draw themselves: no two answers have the same. */
const FORMS = ['chatcmpl-', 'cmpl-', 'resp_', 'msg_', 'gen-'];

/** The beginning of an id that a provider or a gateway draws itself; empty of others, which a caller may have chosen. */
export function formOf(answerId: string): string {
  return FORMS.find((form) => answerId.startsWith(form)) ?? '';
}

export function spanKey({ traceId, spanId }: Pick<CountedCall, 'traceId' | 'spanId'>): string {
  return `${traceId}:${spanId}`;
}
