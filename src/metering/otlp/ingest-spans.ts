/**
 * Stores the events of spans. Billable spans of a request are stored even if others are refused: an exporter does not
 * resend a refused span, and its other spans are not at fault.
 *
 * Uses the path of `POST /v1/ingest` with its limits, its deduplication and its durability. A request that fails
 * halfway is sent again by the exporter as a whole; the stored events are duplicates then.
 */
import { Refusal } from '../../core/errors.ts';
import { afterOtherWork } from '../../core/in-chunks.ts';
import { EVENTS_PER_REQUEST_MAX } from '../ingest/event-limits.ts';
import { createCountOnce } from './count-once.ts';
import { readJsonSpans } from './read-json.ts';
import { readProtobufSpans } from './read-protobuf.ts';
import type { Span } from './span.ts';
import {
  IGNORED,
  type SpanEvent,
  type SpanOutcome,
  type SpanRules,
  spanOutcome,
  wantedAttributes,
} from './span-event.ts';
import type { StoredCalls } from './stored-calls.ts';

/** The encoding of an export request. */
type SpanEncoding = 'json' | 'protobuf';

/** `POST /v1/ingest`: refuses a body with invalid events as a whole, and lists these in the details. */
type IngestEvents = (body: Buffer) => Promise<{ readonly accepted: number; readonly duplicates: number }>;

/** A span that is refused, or that is billed or ignored although it looks wrong. */
export interface NotedSpan {
  /** `trace id:span id`, as sent. */
  readonly id: string;
  readonly reason: string;
}

interface SpanCounts {
  /** Spans whose events were stored. */
  readonly accepted: number;
  /** Spans whose events were stored already. */
  readonly duplicates: number;
  /** Spans that are not calls to models, or used no tokens. */
  readonly ignored: number;
}

interface SpansOutcome extends SpanCounts {
  readonly refused: readonly NotedSpan[];
  readonly warned: readonly NotedSpan[];
}

export interface SpanIngest {
  /**
   * Processes the body of an `ExportTraceServiceRequest`. Resolves when every event is on disk. Refuses (`invalid`)
   * another body, and rejects with the refusal of `POST /v1/ingest` if an event could not be stored.
   */
  ingest(body: Buffer, encoding: SpanEncoding): Promise<SpansOutcome>;
  /** All spans since the start. */
  stats(): SpanCounts & { readonly refused: number; readonly warned: number };
}

export interface SpanIngestOptions {
  readonly ingestEvents: IngestEvents;
  readonly rules: SpanRules;
  /** Absent: calls are compared with recent calls of this process only. */
  readonly storedCalls?: StoredCalls;
  /** Called if stored calls cannot be read: spans are billed then, with a warning. */
  readonly onFailedLookup?: (error: unknown) => void;
  /** Called with a sample of the spans that look wrong: `warned` counts all. */
  readonly onWarning?: (span: NotedSpan, warned: number) => void;
}

/** The interval between two warnings of a process. */
const WARNING_INTERVAL_MS = 60_000;

export function createSpanIngest(options: SpanIngestOptions): SpanIngest {
  const { ingestEvents, rules, onFailedLookup } = options;
  const wanted = wantedAttributes(rules);
  const countOnce = createCountOnce(options.storedCalls, (error) => onFailedLookup?.(error));
  const total = createSpanTotal(options.onWarning);

  async function ingest(body: Buffer, encoding: SpanEncoding): Promise<SpansOutcome> {
    const read = encoding === 'json' ? readJsonSpans : readProtobufSpans;
    const spans = read(body, wanted);
    const outcomes = await countOnce.outcomes(spans, await outcomesAlone(spans, rules));
    const running: Promise<{ part: SpansOutcome } | { error: unknown }>[] = [];
    let hasFailed = false;
    for (let start = 0; start < spans.length && !hasFailed; start += EVENTS_PER_REQUEST_MAX) {
      // Otherwise all events would be encoded at once, while other requests wait.
      if (start > 0) await afterOtherWork();
      const part = ingestPart(spans.slice(start, start + EVENTS_PER_REQUEST_MAX), outcomes);
      running.push(
        part.then(
          (outcome) => ({ part: outcome }),
          (error: unknown) => {
            hasFailed = true;
            return { error };
          },
        ),
      );
    }
    if (hasFailed) countOnce.forget(eventsOf(spans.slice(running.length * EVENTS_PER_REQUEST_MAX), outcomes));
    const parts = (await Promise.all(running)).map((ended) => {
      if ('error' in ended) throw ended.error;
      return ended.part;
    });
    return sumOf(parts);
  }

  async function ingestPart(spans: readonly Span[], outcomes: Outcomes): Promise<SpansOutcome> {
    const { events, ...sorted } = sortedSpans(spans, outcomes);
    const stored = await ingestValid(ingestEvents, events, countOnce.forget).catch((error: unknown) => {
      countOnce.forget(events);
      throw error;
    });
    const part = { ...stored, ...sorted, refused: [...sorted.refused, ...stored.refused] };
    total.add(part);
    return part;
  }

  return { ingest, stats: total.figures };
}

type Outcomes = ReadonlyMap<Span, SpanOutcome>;

async function outcomesAlone(spans: readonly Span[], rules: SpanRules): Promise<Outcomes> {
  const outcomes = new Map<Span, SpanOutcome>();
  for (const [index, span] of spans.entries()) {
    if (index > 0 && index % EVENTS_PER_REQUEST_MAX === 0) await afterOtherWork();
    outcomes.set(span, spanOutcome(span, rules));
  }
  return outcomes;
}

/** The events to store, and the results of the other spans. */
function sortedSpans(spans: readonly Span[], outcomes: Outcomes) {
  const events: SpanEvent[] = [];
  const refused: NotedSpan[] = [];
  const warned: NotedSpan[] = [];
  let ignored = 0;
  for (const span of spans) {
    const outcome = outcomes.get(span) ?? IGNORED;
    if (outcome.kind === 'event') events.push(outcome.event);
    else if (outcome.kind === 'refused') refused.push({ id: shownId(span), reason: outcome.reason });
    else ignored += 1;
    if (outcome.kind === 'refused') continue;
    for (const reason of outcome.warnings) warned.push({ id: shownId(span), reason });
  }
  return { events, refused, warned, ignored };
}

function sumOf(parts: readonly SpansOutcome[]): SpansOutcome {
  return {
    accepted: sum(parts.map(({ accepted }) => accepted)),
    duplicates: sum(parts.map(({ duplicates }) => duplicates)),
    ignored: sum(parts.map(({ ignored }) => ignored)),
    refused: parts.flatMap(({ refused }) => refused),
    warned: parts.flatMap(({ warned }) => warned),
  };
}

/** Counts the spans of a process, and reports a sample of those that look wrong. */
function createSpanTotal(onWarning: SpanIngestOptions['onWarning']) {
  const total = { accepted: 0, duplicates: 0, ignored: 0, refused: 0, warned: 0 };
  let nextWarningAt = 0;
  return {
    figures: () => ({ ...total }),
    add({ accepted, duplicates, ignored, refused, warned }: SpansOutcome) {
      total.accepted += accepted;
      total.duplicates += duplicates;
      total.ignored += ignored;
      total.refused += refused.length;
      total.warned += warned.length;
      const [first] = warned;
      if (first === undefined || performance.now() < nextWarningAt) return;
      nextWarningAt = performance.now() + WARNING_INTERVAL_MS;
      onWarning?.(first, total.warned);
    },
  };
}

function eventsOf(spans: readonly Span[], outcomes: ReadonlyMap<Span, SpanOutcome>): SpanEvent[] {
  return spans.flatMap((span) => {
    const outcome = outcomes.get(span);
    return outcome?.kind === 'event' ? [outcome.event] : [];
  });
}

type StoredEvents = Omit<SpansOutcome, 'ignored' | 'warned'>;

/**
 * Sends events without the refused ones. Each round drops at least one, and the second one is the last unless an event
 * has become too old in between.
 */
async function ingestValid(
  ingestEvents: IngestEvents,
  given: readonly SpanEvent[],
  forget: (events: readonly SpanEvent[]) => void,
): Promise<StoredEvents> {
  let events = given;
  const refused: NotedSpan[] = [];
  while (events.length > 0) {
    try {
      return { ...(await ingestEvents(Buffer.from(JSON.stringify(events)))), refused };
    } catch (error) {
      const problems = problemsByIndex(error);
      const valid = events.filter((_, index) => !problems.has(index));
      if (valid.length === events.length) throw error;
      for (const [index, reason] of problems)
        refused.push({ id: events[index]?.transaction_id ?? '', reason });
      forget(events.filter((_, index) => problems.has(index)));
      events = valid;
    }
  }
  return { accepted: 0, duplicates: 0, refused };
}

/** The invalid events listed in a refusal; none if it has another reason. */
function problemsByIndex(error: unknown): ReadonlyMap<number, string> {
  const problems = new Map<number, string>();
  if (!(error instanceof Refusal) || error.kind !== 'invalid') return problems;
  const listed = error.details?.errors;
  if (!Array.isArray(listed)) return problems;
  for (const { index, message } of listed) problems.set(Number(index), String(message));
  return problems;
}

/** Invalid ids can be as long as the body. */
const SHOWN_ID_LENGTH_MAX = 64;

function shownId({ traceId, spanId }: Span): string {
  return `${traceId.slice(0, SHOWN_ID_LENGTH_MAX)}:${spanId.slice(0, SHOWN_ID_LENGTH_MAX)}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
