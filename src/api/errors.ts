/**
 * The one table from what went wrong to status, headers and body.
 *
 * Expected failures are `Refusal`s. A unique constraint that PostgreSQL refuses becomes a conflict if the
 * constraint's name is known. Everything else is a bug: 500 with a fixed text, details only in the log.
 */
import { z } from 'zod';
import { Refusal, type RefusalKind } from '../core/errors.ts';

/** From the name of a unique constraint to the message that a client gets with its 409. */
export type ConflictMessages = Readonly<Record<string, string>>;

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** Not foreseen: belongs in the log with its stack. */
  readonly unexpected: boolean;
}

export const errorBody = z
  .object({
    message: z.string(),
    code: z.string().optional().meta({
      description: 'On contract operations: `ContractNotFound`, `CustomerNotFound`, `InvalidArgument`, …',
    }),
  })
  .meta({ id: 'Error' });

const RETRY_LATER = { 'retry-after': '1' };

const STATUS_AND_HEADERS: Readonly<Record<RefusalKind, readonly [number, Readonly<Record<string, string>>]>> =
  {
    invalid: [400, {}],
    unauthenticated: [401, { 'www-authenticate': 'Bearer' }],
    forbidden: [403, {}],
    not_found: [404, {}],
    // Without this header the official client repeats a conflict twice more.
    conflict: [409, { 'x-should-retry': 'false' }],
    too_large: [413, {}],
    overloaded: [429, { ...RETRY_LATER, 'x-metronome-rate-limit-type': 'client' }],
    unavailable: [503, RETRY_LATER],
  };

/** What to answer to something that was thrown. Never throws. */
export function errorAnswer(
  error: unknown,
  requestId: string,
  conflictMessages: ConflictMessages,
): ErrorAnswer {
  const refusal = error instanceof Refusal ? error : conflictOf(error, conflictMessages);
  if (refusal === null) {
    const message = `Internal error. The log has the details under request id ${requestId}.`;
    return { status: 500, headers: {}, body: { message }, unexpected: true };
  }
  const [status, headers] = STATUS_AND_HEADERS[refusal.kind];
  const { message, code, details } = refusal;
  return { status, headers, body: { message, code, ...details }, unexpected: false };
}

const UNIQUE_VIOLATION = '23505';

/** How postgres.js reports a broken constraint; Drizzle wraps it, so the causes are searched too. */
const constraintError = z.object({ code: z.string(), constraint_name: z.string() });

const CAUSES_MAX = 5;

function conflictOf(error: unknown, messages: ConflictMessages): Refusal | null {
  let current: unknown = error;
  for (let i = 0; i < CAUSES_MAX && current instanceof Error; i++) {
    const parsed = constraintError.safeParse(current);
    if (parsed.success && parsed.data.code === UNIQUE_VIOLATION) {
      const message = Object.hasOwn(messages, parsed.data.constraint_name)
        ? messages[parsed.data.constraint_name]
        : undefined;
      return message === undefined ? null : new Refusal('conflict', message);
    }
    current = current.cause;
  }
  return null;
}
