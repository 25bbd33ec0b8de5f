/**
 * Turns a span of a call to an AI model into an event of token billing. Pure. docs/token-billing.md has the table.
 *
 * Owns: what of a span is billed, and why it cannot be. Does not own: the limits of events, such as the length of a
 * customer id and the age of a timestamp, which ingestion checks.
 */
import { formatInstant, type Instant } from '../../core/time.ts';
import { TOKEN_EVENT_TYPE, type TokenKind } from '../../core/token-billing.ts';
import {
  AROUND_MODEL_CALLS,
  CACHE_READ_TOKENS,
  CACHE_WRITE_TOKENS,
  CATALOGUE_PROVIDERS,
  ERROR_TYPE,
  GEN_AI_ATTRIBUTES,
  INPUT_TOKENS,
  MODEL,
  MODEL_CALLS,
  OPERATION,
  OUTPUT_TOKENS,
  PROVIDER,
} from './gen-ai.ts';
import type { Attributes, Span, WantedAttributes } from './span.ts';

/** As `POST /v1/ingest` takes it. Counts of tokens are plain decimal texts. */
export interface SpanEvent {
  readonly transaction_id: string;
  readonly customer_id: string;
  readonly event_type: string;
  readonly timestamp: string;
  readonly properties: Readonly<Record<string, string>>;
}

export type SpanOutcome =
  | { readonly kind: 'event'; readonly event: SpanEvent }
  /** It is no call to a model, or one that used no tokens. */
  | { readonly kind: 'ignored' }
  | { readonly kind: 'refused'; readonly reason: string };

/** The attributes that `spanOutcome` looks at. */
export function wantedAttributes(customerAttribute: string): WantedAttributes {
  return new Set([...GEN_AI_ATTRIBUTES, customerAttribute]);
}

/** What becomes of a span. The customer is the attribute of that name of the span, or else of its resource. */
export function spanOutcome(span: Span, customerAttribute: string): SpanOutcome {
  const operation = textOf(span.attributes, [OPERATION]);
  if (AROUND_MODEL_CALLS.has(operation)) return IGNORED;
  try {
    const counts = tokenCounts(span.attributes);
    if (counts === null) return withoutCounts(span, operation);
    if (counts.size === 0) return IGNORED;
    return { kind: 'event', event: eventOf(span, customerAttribute, counts) };
  } catch (error) {
    if (error instanceof Unbillable) return { kind: 'refused', reason: error.message };
    throw error;
  }
}

const IGNORED: SpanOutcome = { kind: 'ignored' };

/** Why a span of a model call cannot be billed. */
class Unbillable extends Error {}

/** A call that failed may have used no tokens; one that did not must say how many. */
function withoutCounts(span: Span, operation: string): SpanOutcome {
  const isFailed = span.isFailed || span.attributes.has(ERROR_TYPE);
  if (isFailed || !MODEL_CALLS.has(operation)) return IGNORED;
  return { kind: 'refused', reason: `has no ${INPUT_TOKENS[0]} and no ${OUTPUT_TOKENS[0]}` };
}

function eventOf(span: Span, customerAttribute: string, counts: TokenCounts): SpanEvent {
  return {
    transaction_id: `${idOf(span.traceId, 'trace id', TRACE_ID)}:${idOf(span.spanId, 'span id', SPAN_ID)}`,
    customer_id: customerOf(span, customerAttribute),
    event_type: TOKEN_EVENT_TYPE,
    timestamp: formatInstant(endOf(span)),
    properties: {
      model: required(span.attributes, MODEL),
      provider: providerOf(span.attributes),
      ...Object.fromEntries([...counts].map(([kind, count]) => [kind, count.toString()])),
    },
  };
}

const TRACE_ID = /^(?!0+$)[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0+$)[0-9a-f]{16}$/;

function idOf(id: string, what: string, form: RegExp): string {
  if (!form.test(id)) throw new Unbillable(`has no valid ${what}`);
  return id;
}

function customerOf({ attributes, resource }: Span, name: string): string {
  const value = attributes.get(name) ?? resource.get(name);
  if (value === undefined) throw new Unbillable(`has no attribute ${name}, and neither has its resource`);
  if (value.kind === 'other') throw new Unbillable(`${name} must be a text or a number`);
  return value.text;
}

function providerOf(attributes: Attributes): string {
  const provider = required(attributes, PROVIDER);
  return CATALOGUE_PROVIDERS.get(provider) ?? provider;
}

function required(attributes: Attributes, names: readonly string[]): string {
  const text = textOf(attributes, names);
  if (text === '') throw new Unbillable(`has no ${names.join(' and no ')}`);
  return text;
}

/** The first of these attributes that is a text; empty where none is. */
function textOf(attributes: Attributes, names: readonly string[]): string {
  for (const name of names) {
    const value = attributes.get(name);
    if (value?.kind === 'text' && value.text !== '') return value.text;
  }
  return '';
}

const NANOSECONDS_PER_MILLISECOND = 1_000_000n;
/** The last millisecond of the year 9999, above which an instant has no text. */
const LAST_INSTANT = BigInt(Date.UTC(10_000, 0, 1) - 1);

/** The millisecond in which the span ended. */
function endOf({ endTimeUnixNano }: Span): Instant {
  if (endTimeUnixNano === 0n) throw new Unbillable('has no end time');
  const milliseconds = endTimeUnixNano / NANOSECONDS_PER_MILLISECOND;
  return Number(milliseconds < LAST_INSTANT ? milliseconds : LAST_INSTANT);
}

type TokenCounts = ReadonlyMap<TokenKind, bigint>;

/** The tokens of each kind that there are any of; null where the span counts none. */
function tokenCounts(attributes: Attributes): TokenCounts | null {
  const input = countOf(attributes, INPUT_TOKENS);
  const output = countOf(attributes, OUTPUT_TOKENS);
  const read = countOf(attributes, CACHE_READ_TOKENS);
  const written = countOf(attributes, CACHE_WRITE_TOKENS);
  if ([input, output, read, written].every((count) => count === null)) return null;
  const cached = (read ?? 0n) + (written ?? 0n);
  const uncached = (input ?? 0n) - cached;
  if (uncached < 0n) {
    throw new Unbillable(
      `${INPUT_TOKENS[0]} is ${input ?? 0n}, less than its ${cached} tokens that were read from or written to a cache`,
    );
  }
  const counts: [TokenKind, bigint][] = [
    ['input_tokens', uncached],
    ['cached_input_tokens', read ?? 0n],
    ['output_tokens', output ?? 0n],
    ['cached_write_tokens', written ?? 0n],
  ];
  return new Map(counts.filter(([, count]) => count > 0n));
}

/** More than all tokens of the world in a year; bounds the texts of counts. */
const COUNT_MAX = 10n ** 18n;

function countOf(attributes: Attributes, names: readonly string[]): bigint | null {
  for (const name of names) {
    const value = attributes.get(name);
    if (value === undefined) continue;
    const count = value.kind === 'number' && /^\d+$/.test(value.text) ? BigInt(value.text) : null;
    if (count === null || count > COUNT_MAX) {
      throw new Unbillable(`${name} must be a whole number of tokens, 0 or more`);
    }
    return count;
  }
  return null;
}
