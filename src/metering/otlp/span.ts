/** The parts of an OpenTelemetry span that are read, the same from either encoding of an export request. */
import { Refusal } from '../../core/errors.ts';

/** An attribute's value. A number is plain decimal text with every digit; `other` is what billing has no use for. */
export type AttributeValue =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'other' };

/** By name; the last one of a name counts. Holds only the attributes that the reader was asked for. */
export type Attributes = ReadonlyMap<string, AttributeValue>;

/** Names of the attributes to read. The others, prompts among them, are passed over. */
export interface WantedAttributes {
  has(name: string): boolean;
}

/** The library that recorded a span. Texts are empty where it does not say. */
export interface SpanScope {
  readonly name: string;
  readonly version: string;
}

export interface Span {
  /** Lower-case hexadecimal, of any length: not checked yet. Empty where there is none. */
  readonly traceId: string;
  readonly spanId: string;
  /** Empty where it is the first one of its trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** Nanoseconds since 1970; 0 if there is none. */
  readonly startTimeUnixNano: bigint;
  readonly endTimeUnixNano: bigint;
  /** Whether its status is an error. */
  readonly isFailed: boolean;
  readonly attributes: Attributes;
  /** Those of the program that recorded the span. */
  readonly resource: Attributes;
  readonly scope: SpanScope;
}

/** The status code of a span that failed. */
export const STATUS_CODE_ERROR = 2;
/** Its name, which some senders of JSON write although OTLP has numbers only. */
export const STATUS_CODE_ERROR_NAME = 'STATUS_CODE_ERROR';

export const OTHER_VALUE: AttributeValue = { kind: 'other' };

/** A span that can be billed has 100 bytes at least; an empty one has two, and costs as much memory. */
const SPANS_MAX = 20_000;

/** Refuses (`too_large`) more spans than a request may have. */
export function requireFewSpans(count: number): void {
  if (count > SPANS_MAX) {
    throw new Refusal('too_large', `The request has more than ${SPANS_MAX} spans: send smaller batches`);
  }
}
