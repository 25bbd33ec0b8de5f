/**
 * The identity of a call to a model, shared by all spans of the call, regardless of their sender. An SDK, a gateway and a retry
 * of either report the same call with the same id of the answer.
 *
 * Short ids are not identities: servers such as Ollama count up from 1 and restart. Their spans, and those without an
 * id, are identified by trace and span.
 */
import { createHash } from 'node:crypto';
import type { Instant } from '../../core/time.ts';
import { TRANSACTION_ID_CHARACTERS_MAX } from '../ingest/event-limits.ts';
import { ANSWER_PREFIX } from './counted-call.ts';
import { RESPONSE_ID, textOf } from './gen-ai.ts';
import type { Attributes, Span } from './span.ts';
import { Unbillable } from './unbillable.ts';

/** Minimum characters of an answer id. */
const RESPONSE_ID_CHARACTERS_MIN = 20;

/** The suffix that OpenRouter adds to attempts of one generation. */
const ATTEMPT = /:attempt-\d+$/;

/** The id of the answer that identifies a call; null if the span has none. */
function responseIdOf(attributes: Attributes): string | null {
  const id = textOf(attributes, RESPONSE_ID).replace(ATTEMPT, '');
  // An unpaired surrogate counts as a character here; ingestion refuses it.
  return id.length >= RESPONSE_ID_CHARACTERS_MIN ? id : null;
}

/** Whether a span is one of several attempts at a call. */
export function isAttempt({ name, attributes }: Span): boolean {
  return /^provider attempt \d/i.test(name) || ATTEMPT.test(textOf(attributes, RESPONSE_ID));
}

/**
 * The id of the event. Spans that ended before `responseIdsFrom` are identified by trace and span: they may have been
 * stored by a version that did not read the id of the answer, and must not count again when they are sent again.
 */
export function callId(span: Span, endedAt: Instant, responseIdsFrom: Instant): string {
  const responseId = endedAt < responseIdsFrom ? null : responseIdOf(span.attributes);
  // A span without valid ids is invalid, whatever its answer.
  const spanId = `${idOf(span.traceId, 'trace id', TRACE_ID)}:${idOf(span.spanId, 'span id', SPAN_ID)}`;
  if (responseId === null) return spanId;
  const id = `${ANSWER_PREFIX}${responseId}`;
  if (id.length <= TRANSACTION_ID_CHARACTERS_MAX) return id;
  return `${ANSWER_PREFIX}${createHash('sha256').update(responseId).digest('hex')}`;
}

const TRACE_ID = /^(?!0+$)[0-9a-f]{32}$/;
export const SPAN_ID = /^(?!0+$)[0-9a-f]{16}$/;

function idOf(id: string, what: string, form: RegExp): string {
  if (!form.test(id)) throw new Unbillable(`has no valid ${what}`);
  return id;
}
