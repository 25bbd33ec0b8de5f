/**
 * The expected ways in which a request can be refused. Anything else that is thrown is a bug and answers 500 with a
 * fixed text. `api/http/errors.ts` is the one place that maps these to status and body. A refusal holds the path of
 * the field as data; the API maps it to wire names.
 */

export type RefusalKind =
  | 'invalid' // the request is wrong: 400
  | 'unauthenticated' // no token, or an unknown one: 401
  | 'forbidden' // the token lacks the scope: 403
  | 'not_found' // no such entity: 404
  | 'conflict' // conflicts with the current state or a unique key: 409
  | 'changed' // the object has another version than the request names: 412
  | 'running' // the same request is running: 409, try again later
  | 'too_large' // 413
  | 'unsupported' // an unsupported content type: 415
  | 'overloaded' // 429, try again later
  | 'unavailable'; // 503, the service is starting or draining

/** Codes that contract operations add to the error body. */
export type RefusalCode =
  | 'ContractNotFound'
  | 'CustomerNotFound'
  | 'PackageNotFound'
  | 'SubscriptionNotFound'
  | 'NotificationConfigNotFound'
  | 'InvalidArgument';

/** The path of a field in the use case's input: names, list indexes, keys of maps. */
export type FieldPath = readonly (string | number)[];

/**
 * The message, as text with embedded parts: other fields, as paths relative to the parent of the refused field, or
 * another refusal, which is included in full.
 */
export type Problem = string | readonly (string | FieldPath | Refusal)[];

/** A problem that names other fields: `` words`must be after ${['startingAt']}` ``. */
export function words(
  texts: TemplateStringsArray,
  ...values: readonly (string | number | FieldPath | Refusal)[]
): Problem {
  return texts.flatMap((text, index) => {
    const value = values[index];
    return value === undefined ? [text] : [text, typeof value === 'number' ? String(value) : value];
  });
}

interface RefusalExtra {
  readonly path?: FieldPath;
  readonly code?: RefusalCode | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** `message` is for logs; `api/http/problems.ts` creates the message for clients from path and problem. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly kind: RefusalKind;
  /** The invalid field; empty if the request as a whole is refused. */
  readonly path: FieldPath;
  readonly problem: Problem;
  readonly code: RefusalCode | undefined;
  /** Extra members of the error body, such as the list of bad events. */
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(kind: RefusalKind, problem: Problem, { path = [], code, details }: RefusalExtra = {}) {
    super(`${path.length === 0 ? '' : `${path.join('.')}: `}${plainText(problem)}`);
    this.kind = kind;
    this.path = path;
    this.problem = problem;
    this.code = code;
    this.details = details;
  }
}

function plainText(problem: Problem): string {
  if (typeof problem === 'string') return problem;
  const textOf = (part: (typeof problem)[number]) =>
    typeof part === 'string' ? part : part instanceof Refusal ? part.message : part.join('.');
  return problem.map(textOf).join('');
}

/** The field has an invalid value. */
export function invalid(path: FieldPath, problem: Problem): Refusal {
  return new Refusal('invalid', problem, { path });
}

export function notFound(what: string, id: string, code?: RefusalCode): Refusal {
  return new Refusal('not_found', `${what} ${id} not found`, { code });
}

/** A field references something that does not exist. */
export function namesNothing(path: FieldPath, problem: Problem): Refusal {
  return new Refusal('not_found', problem, { path });
}

/** `conflictingId` is the conflicting object, if it has an id. */
export function conflict(
  problem: Problem,
  path: FieldPath = [],
  conflictingId: string | null = null,
): Refusal {
  const details = conflictingId === null ? undefined : { conflicting_id: conflictingId };
  return new Refusal('conflict', problem, { path, details });
}

/** A uniqueness key was used before; `conflictingId` is the object that has it. */
export function keyUsed(conflictingId: string | null): Refusal {
  return conflict('This uniqueness key has already been used.', [], conflictingId);
}

/** For states that are impossible unless there is a bug. Throws a plain error, not a refusal. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}

/** Makes the compiler check that a union is handled exhaustively. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
