/**
 * The one table from failures to status, headers and body.
 *
 * Expected failures are `Refusal`s, stores that are unreachable or full (503), and a ClickHouse whose memory others have
 * (429). Everything else is a bug: 500 with a fixed text, details only in the log.
 */
import { z } from 'zod';
import { Refusal, type RefusalKind } from '../../core/errors.ts';
import { isStoreOutOfMemory, isStoreUnavailable } from '../../core/failures.ts';
import type { WireWords } from '../base/names.ts';
import { refusalText } from './problems.ts';

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** How the failure is logged: not at all, as one of a store, or as a bug. */
  readonly logged: 'no' | 'store' | 'bug';
}

export const errorBody = z
  .object({
    message: z.string(),
    code: z.string().optional().meta({
      description: 'On contract operations: `ContractNotFound`, `CustomerNotFound`, `InvalidArgument`, …',
    }),
    conflicting_id: z.string().optional().meta({
      description: 'With 409: the object that already has this key, name or value.',
    }),
    version: z.string().optional().meta({ description: 'With 412: the present `ETag` of the object.' }),
    changed: z.array(z.string()).optional().meta({
      description: 'With 412: the members of the object that differ from the version of `If-Match`.',
    }),
    conflicting_value: z.string().optional().meta({ description: 'With 409 of alerts: the key.' }),
  })
  .meta({ id: 'Error' });

const RETRY_LATER = { 'retry-after': '1' };

const STATUS_AND_HEADERS: Readonly<Record<RefusalKind, readonly [number, Readonly<Record<string, string>>]>> =
  {
    invalid: [400, {}],
    unauthenticated: [401, { 'www-authenticate': 'Bearer' }],
    forbidden: [403, {}],
    not_found: [404, {}],
    // Without this header the official client retries a conflict twice.
    conflict: [409, { 'x-should-retry': 'false' }],
    changed: [412, {}],
    running: [409, RETRY_LATER],
    too_large: [413, {}],
    unsupported: [415, {}],
    overloaded: [429, { ...RETRY_LATER, 'x-metronome-rate-limit-type': 'client' }],
    unavailable: [503, RETRY_LATER],
  };

/** The status of a kind of refusal. */
export function statusOf(kind: RefusalKind): number {
  return STATUS_AND_HEADERS[kind][0];
}

const STORE_UNAVAILABLE: ErrorAnswer = {
  status: 503,
  headers: RETRY_LATER,
  body: { message: 'A store of the service is not available: try again later' },
  logged: 'store',
};

const STORE_OUT_OF_MEMORY: ErrorAnswer = {
  status: 429,
  headers: STATUS_AND_HEADERS.overloaded[1],
  body: { message: 'there is no memory for the queries of this request at the moment, try again later' },
  logged: 'store',
};

/** The answer to a thrown value; `own` are the route's wire names. Never throws. */
export function errorAnswer(error: unknown, requestId: string, own?: WireWords): ErrorAnswer {
  if (!(error instanceof Refusal)) {
    if (isStoreUnavailable(error)) return STORE_UNAVAILABLE;
    if (isStoreOutOfMemory(error)) return STORE_OUT_OF_MEMORY;
    const message = `Internal error. The log has the details under request id ${requestId}.`;
    return { status: 500, headers: {}, body: { message }, logged: 'bug' };
  }
  const [status, headers] = STATUS_AND_HEADERS[error.kind];
  const { code, details } = error;
  return { status, headers, body: { message: refusalText(error, own), code, ...details }, logged: 'no' };
}
