/**
 * Validates a raw `POST /v1/ingest` body, by hand because a schema library costs as much per event as all the rest of
 * the path.
 *
 * Contains the rules of a request and of an event (docs/explanation/deduplication.md lists them). Independent of stored
 * data; never throws. One invalid event refuses the whole request, so that a request is never stored in part.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { withoutUuidCase } from '../../core/ids.ts';
import { DAY_MS, formatInstant, HOUR_MS, type Instant } from '../../core/time.ts';
import {
  CLOUD_EVENT_MEMBERS,
  CLOUD_EVENTS_MAX,
  type CloudEventIdentity,
  type CloudEventIds,
  EventProblem,
  usageEventOf,
} from './cloud-events.ts';
import {
  CUSTOMER_ID_LENGTH_MAX,
  EVENT_TYPE_LENGTH_MAX,
  EVENTS_PER_REQUEST_MAX,
  FUTURE_HOURS_MAX,
  TRANSACTION_ID_CHARACTERS_MAX,
} from './event-limits.ts';
import { EventRows } from './event-rows.ts';
import {
  createTimestampBytesParser,
  createTimestampParser,
  type TimestampParser,
} from './event-timestamp.ts';
import { extractNumbers, mayLoseDigits } from './number-text.ts';
import { plainCloudEvents } from './plain-form.ts';
import {
  type BodyTraits,
  isObject,
  type PropertiesResult,
  textProblem,
  writeProperties,
} from './property-text.ts';
import { createPlainEventReader, type PlainEventReader } from './read-plain-events.ts';
import { HASH_WORDS, hashTransactionId } from './transaction-hash.ts';

export interface EventError {
  readonly index: number;
  readonly transaction_id: string | null;
  readonly message: string;
}

/** `errors` lists the bad events only; it is empty if the body as a whole is at fault. */
export type Validation =
  | { readonly rows: EventRows }
  | { readonly message: string; readonly errors: readonly EventError[] };

export interface ValidationContext {
  readonly now: Instant;
  /** The maximum age of a timestamp in days; also how long an id is kept. */
  readonly windowDays: number;
}

/** Reads bodies one after another, plain ones in one pass. The rows of an answer are overwritten by the next one. */
export interface EventReader {
  /** Never throws. */
  read(body: Buffer, context: ValidationContext): Validation;
  /** Leaves the rows of the last answer to the caller, until they are returned. */
  keepRows(): void;
  giveBack(rows: EventRows): void;
}

/** Spare row buffers: about as many as requests that wait at a time. */
const SPARE_ROWS_MAX = 32;

export function createEventReader(): EventReader {
  return readerOf(createPlainEventReader(), USAGE_EVENTS);
}

/** Reads CloudEvents instead: one, or a list of them. `older`: existing ids that events keep (see `CloudEventIds`). */
export function createCloudEventReader(
  identity: CloudEventIdentity,
  older: ReadonlySet<string> = NO_IDS,
): EventReader {
  return readerOf(createPlainEventReader(plainCloudEvents(identity)), cloudEvents({ identity, older }));
}

const NO_IDS: ReadonlySet<string> = new Set();

function readerOf(readPlain: PlainEventReader, form: BodyForm): EventReader {
  const parseTimestamp = createTimestampBytesParser();
  const spare: EventRows[] = [];
  let rows = new EventRows(form.eventsMax);
  return {
    read: (body, context) =>
      readPlain(body, rows, { now: context.now, ...timestampBounds(context), parseTimestamp })
        ? { rows }
        : validateEvents(body, context, rows, form),
    keepRows() {
      rows = spare.pop() ?? new EventRows(form.eventsMax);
    },
    giveBack(kept) {
      if (spare.length < SPARE_ROWS_MAX) spare.push(kept);
    },
  };
}

/** The form of events in a body. */
interface BodyForm {
  readonly eventsMin: number;
  readonly eventsMax: number;
  /** The requirement, as text for people. */
  readonly name: string;
  /** The events of a parsed body; null if it has another form. */
  eventsOf(parsed: unknown): readonly unknown[] | null;
  /** The event with the members of `POST /v1/ingest`, or an `EventProblem`. */
  usageEvent(candidate: unknown, now: Instant): unknown;
  /** The name of the member that corresponds to a member of `POST /v1/ingest`. */
  memberName(member: string): string;
}

const USAGE_EVENTS: BodyForm = {
  eventsMin: 1,
  eventsMax: EVENTS_PER_REQUEST_MAX,
  name: 'a JSON array of events',
  eventsOf: (parsed) => (Array.isArray(parsed) ? parsed : null),
  usageEvent: (candidate) => candidate,
  memberName: (member) => member,
};

function cloudEvents(ids: CloudEventIds): BodyForm {
  const names = new Map<string, string>(Object.entries(CLOUD_EVENT_MEMBERS));
  return {
    eventsMin: 0,
    eventsMax: CLOUD_EVENTS_MAX,
    name: 'a CloudEvent or a JSON array of them',
    eventsOf: (parsed) => (Array.isArray(parsed) ? parsed : isObject(parsed) ? [parsed] : null),
    usageEvent: (candidate, now) => usageEventOf(candidate, ids, now),
    memberName: (member) => names.get(member) ?? member,
  };
}

/** Whether all events of these rows can be accepted at this time, which may be later than when they were read. */
export function areInTime(rows: EventRows, context: ValidationContext): boolean {
  const { earliest, latest } = timestampBounds(context);
  return rows.timestamps.subarray(0, rows.count).every((time) => time >= earliest && time <= latest);
}

/** The first and the last timestamp that is accepted. */
function timestampBounds({ now, windowDays }: ValidationContext): { earliest: Instant; latest: Instant } {
  return { earliest: Math.max(0, now - windowDays * DAY_MS), latest: now + FUTURE_HOURS_MAX * HOUR_MS };
}

/**
 * Validates the body of one request and writes its events into `rows`, overwriting them; the rows are complete only if
 * the result contains them. Never throws.
 */
export function validateEvents(
  body: Buffer,
  context: ValidationContext,
  rows: EventRows = new EventRows(),
  form: BodyForm = USAGE_EVENTS,
): Validation {
  const text = bodyText(body);
  if (text === null) return { message: 'the body is not valid UTF-8', errors: [] };
  const parsed = parseJson(text);
  const events = form.eventsOf(parsed);
  if (events === null) return { message: formProblem(parsed, form), errors: [] };
  const { eventsMin, eventsMax } = form;
  if (events.length < eventsMin || events.length > eventsMax) {
    return {
      message: `the body must hold ${eventsMin} to ${eventsMax} events, not ${events.length}`,
      errors: [],
    };
  }
  const traits = { hasUnicodeEscapes: text.includes('\\u'), numbers: null };
  const fast = checkEvents(events, traits, context, { rows, form });
  if (!fast.sawNumber || !mayLoseDigits(text)) return fast.validation;
  const { json, numbers } = extractNumbers(text);
  const exact = form.eventsOf(parseJson(json));
  if (exact === null) return { message: formProblem(undefined, form), errors: [] };
  return checkEvents(exact, { ...traits, numbers }, context, { rows, form }).validation;
}

/** The body as a string, or null if it is not UTF-8. Plain ASCII, the common case, is a straight copy. */
function bodyText(body: Buffer): string | null {
  if (isAscii(body)) return body.toString('latin1');
  return isUtf8(body) ? body.toString('utf8') : null;
}

/** Undefined if the text is not JSON; `JSON.parse` itself never returns undefined. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function formProblem(parsed: unknown, { name }: BodyForm): string {
  return parsed === undefined ? 'the body is not valid JSON' : `the body must be ${name}`;
}

interface EventCheck {
  readonly body: BodyTraits;
  readonly earliest: Instant;
  readonly latest: Instant;
  readonly parseTimestamp: TimestampParser;
  readonly properties: PropertiesResult;
}

function checkEvents(
  candidates: readonly unknown[],
  body: BodyTraits,
  context: ValidationContext,
  { rows, form }: { readonly rows: EventRows; readonly form: BodyForm },
): { validation: Validation; sawNumber: boolean } {
  rows.clear();
  const check: EventCheck = {
    body,
    ...timestampBounds(context),
    parseTimestamp: createTimestampParser(),
    properties: { members: [], problem: null, sawNumber: false },
  };
  const errors: EventError[] = [];
  for (const [index, candidate] of candidates.entries()) {
    const event = form.usageEvent(candidate, context.now);
    if (event instanceof EventProblem) errors.push(eventError(index, undefined, event.message));
    else {
      const problem = readEvent(event, check, rows);
      if (problem !== null) errors.push(eventError(index, event, inWordsOf(form, problem)));
    }
  }
  const { sawNumber } = check.properties;
  if (errors.length === 0) return { validation: { rows }, sawNumber };
  return { validation: { message: summary(errors, candidates.length), errors }, sawNumber };
}

/** A problem starts with the name of its member. */
function inWordsOf({ memberName }: BodyForm, problem: string): string {
  return problem.replace(/^[a-z_]+(?=[.:])/, memberName);
}

/** Adds the event to the rows. Returns its fault, which starts with the name of the field; null if it is valid. */
function readEvent(candidate: unknown, check: EventCheck, rows: EventRows): string | null {
  if (!isObject(candidate)) return 'the event must be an object';
  const { transaction_id: transactionId, customer_id: customerRef, event_type: eventType } = candidate;
  if (typeof transactionId !== 'string') return missing('transaction_id', transactionId);
  if (typeof customerRef !== 'string') return missing('customer_id', customerRef);
  if (typeof eventType !== 'string') return missing('event_type', eventType);
  const problem =
    transactionIdProblem(transactionId, check.body) ??
    stringProblem('customer_id', customerRef, CUSTOMER_ID_LENGTH_MAX, check.body) ??
    stringProblem('event_type', eventType, EVENT_TYPE_LENGTH_MAX, check.body);
  if (problem !== null) return problem;
  const timestamp = checkTimestamp(candidate.timestamp, check);
  if (typeof timestamp === 'string') return timestamp;
  writeProperties(candidate.properties, check.body, check.properties);
  if (check.properties.problem !== null) return check.properties.problem;
  hashTransactionId(transactionId, rows.hashes, rows.count * HASH_WORDS);
  rows.add(timestamp, [transactionId, withoutUuidCase(customerRef), eventType], check.properties.members);
  return null;
}

function missing(field: string, value: unknown): string {
  return value === undefined || value === null ? `${field}: is required` : `${field}: must be a string`;
}

function transactionIdProblem(text: string, body: BodyTraits): string | null {
  const max = TRANSACTION_ID_CHARACTERS_MAX;
  // Characters outside the basic plane take two code units, so counting is needed only then.
  const isTooLong = text.length > max && (text.length > 2 * max || Array.from(text).length > max);
  if (text.length === 0 || isTooLong) return `transaction_id: must have 1 to ${max} characters`;
  const problem = textProblem(text, body);
  return problem === null ? null : `transaction_id: ${problem}`;
}

function stringProblem(field: string, text: string, lengthMax: number, body: BodyTraits): string | null {
  if (text.length === 0 || text.length > lengthMax) return `${field}: must have 1 to ${lengthMax} characters`;
  const problem = textProblem(text, body);
  return problem === null ? null : `${field}: ${problem}`;
}

function checkTimestamp(value: unknown, check: EventCheck): Instant | string {
  if (typeof value !== 'string') return missing('timestamp', value);
  const timestamp = check.parseTimestamp(value);
  if (timestamp === null) {
    return 'timestamp: must be an RFC 3339 timestamp with a four-digit year and an offset, such as 2026-11-20T00:00:00Z';
  }
  if (timestamp > check.latest) {
    return `timestamp: must be at most ${FUTURE_HOURS_MAX} hours in the future, so not after ${formatInstant(check.latest)}`;
  }
  if (timestamp < check.earliest) {
    return `timestamp: is too far in the past, must not be before ${formatInstant(check.earliest)}`;
  }
  return timestamp;
}

function eventError(index: number, candidate: unknown, message: string): EventError {
  const id = isObject(candidate) ? candidate.transaction_id : undefined;
  // A malicious id can be as long as the body, so the echoed part is at most as long as a valid one. The cut may have
  // left an unpaired surrogate, which JSON must not contain.
  const cut = typeof id === 'string' ? id.slice(0, TRANSACTION_ID_CHARACTERS_MAX) : null;
  const shown = cut?.replaceAll(/\p{Surrogate}/gu, '\ufffd') ?? null;
  return { index, transaction_id: shown, message };
}

/** Maximum events named in the message; all of them are in `errors`. */
const EVENTS_IN_MESSAGE_MAX = 5;

function summary(errors: readonly EventError[], total: number): string {
  const named = errors
    .slice(0, EVENTS_IN_MESSAGE_MAX)
    .map((error) => `[${error.index}] ${error.transaction_id ?? 'without transaction_id'}: ${error.message}`);
  const rest = errors.length > named.length ? `; and ${errors.length - named.length} more` : '';
  return `${errors.length} of ${total} events are invalid, nothing was stored: ${named.join('; ')}${rest}`;
}
