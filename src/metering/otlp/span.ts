/** The parts of an OpenTelemetry span that are read, in a form shared by both encodings of an export request. */
import { Refusal } from '../../core/errors.ts';

/** An attribute's value. A number is plain decimal text with every digit; `other` is not used by billing. */
export type AttributeValue =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'other' };

/** By name; the last one of a name counts. Contains only the requested attributes. */
export type Attributes = ReadonlyMap<string, AttributeValue>;

/** Names of the attributes to read. All others, including prompts, are skipped. */
export interface WantedAttributes {
  has(name: string): boolean;
}

/** The library that recorded a span. Texts are empty if unknown. */
export interface SpanScope {
  readonly name: string;
  readonly version: string;
}

export interface Span {
  /** Lower-case hexadecimal, of any length: not validated yet. Empty if there is none. */
  readonly traceId: string;
  readonly spanId: string;
  /** Empty if the span is the first of its trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** Nanoseconds since 1970; 0 if there is none. */
  readonly startTimeUnixNano: bigint;
  readonly endTimeUnixNano: bigint;
  /** Whether its status is an error. */
  readonly isFailed: boolean;
  readonly attributes: Attributes;
  /** Attributes of the program that recorded the span. */
  readonly resource: Attributes;
  readonly scope: SpanScope;
}

/** The status code of a failed span. */
export const STATUS_CODE_ERROR = 2;
/** Its name, which some senders of JSON use although OTLP has numbers only. */
export const STATUS_CODE_ERROR_NAME = 'STATUS_CODE_ERROR';

export const OTHER_VALUE: AttributeValue = { kind: 'other' };

/** A billable span has at least 100 bytes; an empty one has two, and takes as much memory. */
const SPANS_MAX = 20_000;

/** Refuses (`too_large`) more spans than a request may have. */
export function requireFewSpans(count: number): void {
  if (count > SPANS_MAX) {
    throw new Refusal('too_large', `The request has more than ${SPANS_MAX} spans: send smaller batches`);
  }
}
