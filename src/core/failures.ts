/**
 * Failures of the stores, recognised by their shape: the details that may be logged, and whether the store was
 * unreachable.
 *
 * Error objects of database drivers carry the parameters of the statement, and messages of the engines quote values.
 * Both contain customer data, which must not be logged.
 */

/** The fields of an error that are logged. */
export interface FailureFacts {
  readonly type: string;
  readonly message: string;
  /** Code of the engine or of the operating system. */
  readonly code?: string;
  /** The name of the violated PostgreSQL constraint. */
  readonly constraint?: string;
  readonly table?: string;
  /** The frames only: the head of a stack repeats the message. */
  readonly stack?: string;
  readonly cause?: FailureFacts;
}

const CAUSES_MAX = 4;
const MESSAGE_CHARACTERS_MAX = 1_000;

/** The facts of a thrown value, without parameters of statements and without values quoted in messages. */
export function failureFacts(error: unknown): FailureFacts {
  return factsOf(error, 0);
}

function factsOf(error: unknown, depth: number): FailureFacts {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an error object' };
  const { cause } = error;
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    type: error.name === 'Error' ? error.constructor.name : error.name,
    message: failureMessage(error),
    ...present('code', textOf(error, 'code')),
    ...present('constraint', textOf(error, 'constraint_name')),
    ...present('table', textOf(error, 'table_name')),
    ...(frames.length === 0 ? {} : { stack: frames.join('\n') }),
    ...(cause instanceof Error && depth < CAUSES_MAX ? { cause: factsOf(cause, depth + 1) } : {}),
  };
}

/** The unchanged message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of an error of Node.js, PostgreSQL or ClickHouse; undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The message of an error, without parameters of statements and without quoted values. */
export function failureMessage(error: Error): string {
  const query = textOf(error, 'query');
  const message = 'params' in error && query !== undefined ? `Failed query: ${query}` : error.message;
  const quotesValues = textOf(error, 'severity') !== undefined || textOf(error, 'type') !== undefined;
  return (quotesValues ? withoutValues(message) : message).slice(0, MESSAGE_CHARACTERS_MAX);
}

/**
 * The message up to its first quote: the engines do not escape quotes within the values they quote. Column names are
 * lost with the values; `code` and `constraint` identify the problem.
 */
function withoutValues(message: string): string {
  return message.replace(/["'].*/s, '…');
}

/** Codes of the operating system and of the PostgreSQL driver for an unusable connection or disk. */
const CANNOT_BE_USED = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  // The socket of the embedded PostgreSQL is gone.
  'ENOENT',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  // The service itself writes files for queries, for example the rows sent with them.
  'ENOSPC',
  'EDQUOT',
]);

/**
 * SQLSTATE codes of a temporarily unavailable PostgreSQL: connection exceptions (08), insufficient resources such as a
 * full disk (53), shutdown or startup (57P), a read-only replica (25006), an idle transaction timeout (25P03); and of a
 * transaction that lost a conflict: a deadlock (40P01), a serialization failure (40001), a lock or statement timeout
 * (55P03, 57014), for example after the transaction of a process that was killed.
 */
const POSTGRES_UNAVAILABLE = /^(?:08\w{3}|53\w{3}|57P\d\d|25006|25P03|40P01|40001|55P03|57014)$/;

/** ClickHouse: no space (243, 74, 75), read-only tables (242), timeouts and network errors (159, 209, 210). */
const CLICKHOUSE_UNAVAILABLE = /^(?:243|242|74|75|209|210)$/;

/** The process or the system cannot open another file or connection now. */
const NO_DESCRIPTORS = /\b(?:EMFILE|ENFILE)\b|too many open files/i;

/**
 * Whether a thrown value means that a store is unreachable, stopped, full or too busy, or cannot be opened for lack of
 * file descriptors. The same request may succeed later.
 */
export function isStoreUnavailable(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth <= CAUSES_MAX; at = at.cause, depth += 1) {
    const code = textOf(at, 'code');
    if (NO_DESCRIPTORS.test(`${code} ${at.message}`)) return true;
    if (code === undefined) continue;
    const isOfPostgres = textOf(at, 'severity') !== undefined;
    if (isOfPostgres ? POSTGRES_UNAVAILABLE.test(code) : CANNOT_BE_USED.has(code)) return true;
    if (textOf(at, 'type') !== undefined && CLICKHOUSE_UNAVAILABLE.test(code)) return true;
  }
  return false;
}

/**
 * Whether ClickHouse had no memory for a query because other queries used it, as opposed to a query that is too large
 * by itself. The same request may succeed later.
 */
export function isStoreOutOfMemory(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth <= CAUSES_MAX; at = at.cause, depth += 1) {
    if (textOf(at, 'type') === 'MEMORY_LIMIT_EXCEEDED' && at.message.includes('(total)')) return true;
  }
  return false;
}

/**
 * The message about an unavailable store: the innermost error, on one line, without the statement and without stacks.
 * Null for any other failure.
 */
export function unavailableStore(error: unknown): FailureFacts | null {
  let found: Error | null = null;
  for (let at = error, depth = 0; at instanceof Error && depth <= CAUSES_MAX; at = at.cause, depth += 1) {
    if (isStoreUnavailable(at)) found = at;
  }
  if (found === null) return null;
  const { type, code, message } = failureFacts(found);
  return { type, ...present('code', code), message: message === '' ? (code ?? '') : message };
}

function textOf(error: object, name: string): string | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(error, name)?.value;
  return typeof value === 'string' ? value : undefined;
}

function present<Name extends string>(name: Name, value: string | undefined): { [key in Name]?: string } {
  return value === undefined ? {} : ({ [name]: value } as { [key in Name]: string });
}
