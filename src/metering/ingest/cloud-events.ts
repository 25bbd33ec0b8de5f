/**
 * CloudEvents 1.0 in JSON as usage events: the mapping of members, and refusals. Every limit is that of events of `POST
 * /v1/ingest`, and is checked by the same validator.
 */
import { createHash } from 'node:crypto';
import { formatInstant, type Instant } from '../../core/time.ts';
import { TRANSACTION_ID_CHARACTERS_MAX } from './event-limits.ts';
import { type BodyTraits, isObject, textProblem } from './property-text.ts';

/** The identity of a CloudEvent: its source and its id, as the specification defines, or its id alone. */
export type CloudEventIdentity = 'source-and-id' | 'id';

/** How the events of a body get their transaction ids. */
export interface CloudEventIds {
  readonly identity: CloudEventIdentity;
  /** Ids of the form `olderCloudEventId` that an earlier version stored: their events keep them. */
  readonly older: ReadonlySet<string>;
}

/** More than the default batch of any collector. */
export const CLOUD_EVENTS_MAX = 1_000;

export const SPEC_VERSION = '1.0';

/** The members for `transaction_id`, `customer_id`, `event_type`, `timestamp` and `properties`. */
export const CLOUD_EVENT_MEMBERS = {
  transaction_id: 'id',
  customer_id: 'subject',
  event_type: 'type',
  timestamp: 'time',
  properties: 'data',
} as const;

const JSON_TYPE = /^(?:application\/json|text\/json|[^\s;]+\+json)\s*(?:;|$)/i;

/** The fault of an event, starting with the name of the member. */
export class EventProblem {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** The usage event of a CloudEvent, or its fault. Its members are not validated yet. */
export function usageEventOf(
  candidate: unknown,
  { identity, older }: CloudEventIds,
  now: Instant,
): Readonly<Record<string, unknown>> | EventProblem {
  if (!isObject(candidate)) return new EventProblem('the event must be an object');
  const { specversion, id, source, subject, type, time, datacontenttype, data } = candidate;
  if (specversion !== SPEC_VERSION) return new EventProblem(`specversion: must be "${SPEC_VERSION}"`);
  if (typeof id !== 'string' || id === '') return new EventProblem(`id: ${requiredText(id)}`);
  if (typeof source !== 'string' || source === '') {
    return new EventProblem(`source: ${requiredText(source)}`);
  }
  const problem = dataProblem(datacontenttype, data, candidate.data_base64);
  if (problem !== null) return new EventProblem(problem);
  return {
    transaction_id: cloudEventId({ identity, older }, source, id),
    customer_id: subject,
    event_type: type,
    timestamp: time ?? formatInstant(now),
    properties: data,
  };
}

function requiredText(value: unknown): string {
  return value === undefined || value === null ? 'is required' : 'must be a string of at least one character';
}

function dataProblem(type: unknown, data: unknown, binary: unknown): string | null {
  if (binary !== undefined && binary !== null) return 'data_base64: send data as a JSON object';
  if (type !== undefined && type !== null && !(typeof type === 'string' && JSON_TYPE.test(type))) {
    return 'datacontenttype: must be application/json';
  }
  const isGood = data === undefined || data === null || isObject(data);
  return isGood ? null : 'data: must be a JSON object';
}

const ANY_BODY: BodyTraits = { hasUnicodeEscapes: true, numbers: null };

/** An id that is too long is hashed; one that cannot be stored stays as it is, and is refused later. */
function cloudEventId({ identity, older }: CloudEventIds, source: string, id: string): string {
  if (identity === 'id') return bounded(id);
  if (older.size > 0 && hasSlash(id)) {
    const olderId = olderCloudEventId(source, id);
    if (older.has(olderId)) return olderId;
  }
  return bounded(identityText(source, id));
}

export function hasSlash(id: string): boolean {
  return id.includes(SLASH);
}

/** The id used by earlier versions. Another source and an id without slashes may have the same one. */
export function olderCloudEventId(source: string, id: string): string {
  return bounded(`${source}${SLASH}${id}`);
}

const SLASH = '/';

/**
 * Source and id as one decodable text. An id without slashes follows the last slash. Slashes of an id are escaped; the
 * text then ends with a slash, as no other does.
 */
function identityText(source: string, id: string): string {
  if (!hasSlash(id)) return `${source}${SLASH}${id}`;
  return `${source}${SLASH}${id.replaceAll('%', '%25').replaceAll(SLASH, '%2F')}${SLASH}`;
}

function bounded(text: string): string {
  const isShort =
    text.length <= TRANSACTION_ID_CHARACTERS_MAX ||
    (text.length <= 2 * TRANSACTION_ID_CHARACTERS_MAX &&
      Array.from(text).length <= TRANSACTION_ID_CHARACTERS_MAX);
  if (isShort || textProblem(text, ANY_BODY) !== null) return text;
  return `cloudevents:${createHash('sha256').update(text).digest('hex')}`;
}
