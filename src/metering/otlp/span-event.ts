/**
 * Converts a span of a call to an AI model to an event of token billing. Pure. docs/explanation/token-billing.md has
 * the table.
 *
 * Owns: what is billed for a span, and why it cannot be. Does not own: the limits of events, such as the length of a
 * customer id and the age of a timestamp, which ingestion checks.
 */
import { isCachedBesideInput, type NamedSender, type SpanSender } from '../../core/cached-beside-input.ts';
import { modelName, providerName } from '../../core/model-providers.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import { TOKEN_EVENT_TYPE } from '../../core/token-billing.ts';
import { callId, SPAN_ID } from './call-identity.ts';
import { PARENT_PROPERTY, SPAN_PROPERTY, TRACE_PROPERTY } from './counted-call.ts';
import {
  ERROR_TYPE,
  GEN_AI_ATTRIBUTES,
  isAroundCalls,
  isModelCall,
  MODEL,
  PROVIDER,
  textOf,
} from './gen-ai.ts';
import type { Attributes, AttributeValue, Span, WantedAttributes } from './span.ts';
import { billedCounts, countWarnings, sentCounts, type TokenCounts, unknownCounts } from './token-counts.ts';
import { isUsageName, TOTAL_NAMES } from './token-names.ts';
import { Unbillable } from './unbillable.ts';

/** The operator's settings for spans. */
export interface SpanRules {
  /** Attributes with the customer's id or alias; the first one present on a span or its resource is used. */
  readonly customerAttributes: readonly string[];
  /** Overrides of whether senders' input tokens exclude cached tokens. */
  readonly cachedBeside: readonly NamedSender[];
  /** Spans that ended before are identified by trace and span, later ones by the id of the answer. */
  readonly responseIdsFrom: Instant;
}

/** In the form of `POST /v1/ingest`. Counts of tokens are plain decimal texts. */
export interface SpanEvent {
  readonly transaction_id: string;
  readonly customer_id: string;
  readonly event_type: string;
  readonly timestamp: string;
  readonly properties: Readonly<Record<string, string>>;
}

export type SpanOutcome =
  | { readonly kind: 'event'; readonly event: SpanEvent; readonly warnings: readonly string[] }
  /** Not a call to a model, or one that used no tokens. */
  | { readonly kind: 'ignored'; readonly warnings: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string };

/** The attributes that `spanOutcome` reads. */
export function wantedAttributes({ customerAttributes, cachedBeside }: SpanRules): WantedAttributes {
  const ofResources = cachedBeside.filter(({ by }) => by === 'resource').map(({ name }) => name);
  const names = new Set([...GEN_AI_ATTRIBUTES, ...customerAttributes, ...ofResources]);
  return { has: (name) => names.has(name) || isUsageName(name) };
}

/** The event of a span that does not restate others of its request, or why it has none. */
export function spanOutcome(span: Span, rules: SpanRules): SpanOutcome {
  if (isAroundCalls(span.attributes)) return IGNORED;
  try {
    const sent = sentCounts(span);
    if (sent === null) return withoutCounts(span);
    const isCachedBeside = isCachedBesideInput(senderOf(span), rules.cachedBeside);
    const counts = billedCounts(sent, isCachedBeside);
    if (counts.size === 0) return hasFailed(span) ? IGNORED : ignoredWith(`${NOT_BILLED}, its counts are 0`);
    return {
      kind: 'event',
      event: eventOf(span, rules, counts),
      warnings: countWarnings(span.attributes, sent, isCachedBeside),
    };
  } catch (error) {
    if (error instanceof Unbillable) return { kind: 'refused', reason: error.message };
    throw error;
  }
}

export const IGNORED: SpanOutcome = { kind: 'ignored', warnings: [] };

function ignoredWith(warning: string): SpanOutcome {
  return { kind: 'ignored', warnings: [warning] };
}

const NOT_BILLED = 'is not billed';

/** A failed call may have used no tokens; a successful one must have counts. */
function withoutCounts(span: Span): SpanOutcome {
  if (hasFailed(span)) return IGNORED;
  const { attributes } = span;
  const unknown = unknownCounts(attributes);
  const missing = `has no gen_ai.usage.input_tokens and no gen_ai.usage.output_tokens${unknown}`;
  if (isModelCall(attributes)) return { kind: 'refused', reason: missing };
  const model = textOf(attributes, MODEL);
  if (model === '' && unknown === '' && !hasTotal(attributes)) return IGNORED;
  return ignoredWith(`${NOT_BILLED}, it ${missing}`);
}

/** A total alone shows that a model was called. */
function hasTotal(attributes: Attributes): boolean {
  return TOTAL_NAMES.some((name) => attributes.has(name));
}

function hasFailed({ isFailed, attributes }: Span): boolean {
  return isFailed || attributes.has(ERROR_TYPE);
}

function senderOf({ attributes, resource, scope }: Span): SpanSender {
  return {
    provider: textOf(attributes, PROVIDER),
    model: textOf(attributes, MODEL),
    scopeName: scope.name,
    scopeVersion: scope.version,
    resource(name) {
      const value = resource.get(name);
      return value === undefined || value.kind === 'other' ? undefined : value.text;
    },
  };
}

function eventOf(span: Span, rules: SpanRules, counts: TokenCounts): SpanEvent {
  const endedAt = endOf(span);
  return {
    transaction_id: callId(span, endedAt, rules.responseIdsFrom),
    customer_id: customerOf(span, rules.customerAttributes),
    event_type: TOKEN_EVENT_TYPE,
    timestamp: formatInstant(endedAt),
    properties: {
      model: modelName(required(span.attributes, MODEL)),
      provider: providerName(required(span.attributes, PROVIDER)),
      ...Object.fromEntries([...counts].map(([kind, count]) => [kind, count.toString()])),
      [TRACE_PROPERTY]: span.traceId,
      [SPAN_PROPERTY]: span.spanId,
      ...(SPAN_ID.test(span.parentSpanId) ? { [PARENT_PROPERTY]: span.parentSpanId } : {}),
    },
  };
}

/** An empty text is not a customer: gateways send it if there is none. */
function customerOf({ attributes, resource }: Span, names: readonly string[]): string {
  for (const name of names) {
    const value = [attributes.get(name), resource.get(name)].find(
      (one) => one !== undefined && !isEmpty(one),
    );
    if (value === undefined) continue;
    if (value.kind === 'other') throw new Unbillable(`${name} must be a text or a number`);
    return value.text;
  }
  throw new Unbillable(`has no attribute ${names.join(' and none ')}, and neither has its resource`);
}

function isEmpty(value: AttributeValue): boolean {
  return value.kind === 'text' && value.text === '';
}

function required(attributes: Attributes, names: readonly string[]): string {
  const text = textOf(attributes, names);
  if (text === '') throw new Unbillable(`has no ${names.join(' and no ')}`);
  return text;
}

const NANOSECONDS_PER_MILLISECOND = 1_000_000n;
/** The last millisecond of the year 9999; a later instant has no text form. */
const LAST_INSTANT = BigInt(Date.UTC(10_000, 0, 1) - 1);

/** The millisecond in which the span ended. */
function endOf({ endTimeUnixNano }: Span): Instant {
  if (endTimeUnixNano === 0n) throw new Unbillable('has no end time');
  const milliseconds = endTimeUnixNano / NANOSECONDS_PER_MILLISECOND;
  return Number(milliseconds < LAST_INSTANT ? milliseconds : LAST_INSTANT);
}
