/**
 * The expected ways in which a request can be refused. Anything else that is thrown is a bug and
 * answers 500 with a fixed text. `api/http/errors.ts` is the one place that maps these to status and body.
 */

export type RefusalKind =
  | 'invalid' // the request is wrong: 400
  | 'unauthenticated' // no token, or an unknown one: 401
  | 'forbidden' // the token lacks the scope: 403
  | 'not_found' // no such entity: 404
  | 'conflict' // the state or a unique key stands against it: 409
  | 'too_large' // 413
  | 'overloaded' // 429, try again later
  | 'unavailable'; // 503, the service is starting or draining

/** Codes that contract operations add to the error body. */
export type RefusalCode =
  | 'ContractNotFound'
  | 'CustomerNotFound'
  | 'PackageNotFound'
  | 'SubscriptionNotFound'
  | 'InvalidArgument';

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly kind: RefusalKind;
  readonly code: RefusalCode | undefined;
  /** Extra members of the error body, such as the list of bad events. */
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(
    kind: RefusalKind,
    message: string,
    extra: { code?: RefusalCode; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message);
    this.kind = kind;
    this.code = extra.code;
    this.details = extra.details;
  }
}

/** A bad field: `field` is its path as the client wrote it, such as `commits[2].access_schedule`. */
export function invalid(field: string, problem: string): Refusal {
  return new Refusal('invalid', `${field}: ${problem}`);
}

export function notFound(what: string, id: string, code?: RefusalCode): Refusal {
  return new Refusal('not_found', `${what} ${id} not found`, code === undefined ? {} : { code });
}

export function conflict(message: string): Refusal {
  return new Refusal('conflict', message);
}

/** For states that the code itself rules out. Throws a plain error: a bug, not a refusal. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}

/** Makes the compiler prove that a union is handled in full. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
