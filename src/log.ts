/**
 * The log: JSON lines on standard error, so that standard output stays with what the operator reads.
 *
 * A store that is away makes everything fail at once that uses it. Such a failure is one line with the cause; the
 * statement and the stack are a record of level `debug`. A message of the background about the same cause a moment
 * later is one as well.
 */
import { type DestinationStream, destination, type LogFn, type Logger, pino } from 'pino';
import type { Config } from './config.ts';
import { type FailureFacts, failureFacts, unavailableStore } from './core/failures.ts';
import { SECOND_MS } from './core/time.ts';

export type { Logger } from 'pino';

/** Secrets never reach the log, wherever in an object they stand. */
const SECRET_PATHS = ['authorization', '*.authorization', 'headers.authorization', 'token', '*.token'];

const STDERR = 2;
/** Lines that cannot be written wait for the next one; beyond this they are dropped. */
const WAITING_BYTES_MAX = 1024 * 1024;

/** Pino's number of the level. */
const DEBUG = 20;

/** Jobs, evaluations and webhooks notice within this time that a store is away. */
const SAME_CAUSE_MS = 5 * SECOND_MS;

/** `to` is standard error, except in tests. */
export function createLogger(
  config: Pick<Config, 'logLevel'>,
  to: DestinationStream = standardError(),
  monotonicMs: () => number = () => performance.now(),
): Logger {
  return pino(
    {
      level: config.logLevel,
      base: null,
      redact: SECRET_PATHS,
      serializers: { err: (error: unknown) => (error instanceof Told ? error.facts : failureFacts(error)) },
      hooks: { logMethod: unavailableStoresInOneLine(monotonicMs) },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
    },
    to,
  );
}

/** Facts of a failure that are logged as they are. */
class Told {
  readonly facts: FailureFacts;
  constructor(facts: FailureFacts) {
    this.facts = facts;
  }
}

function unavailableStoresInOneLine(monotonicMs: () => number) {
  /** When a cause was last reported, by its code. */
  const toldAt = new Map<string, number>();

  function isTold({ code, type }: FailureFacts): boolean {
    const cause = code ?? type;
    const now = monotonicMs();
    const last = toldAt.get(cause);
    if (last !== undefined && now - last < SAME_CAUSE_MS) return true;
    toldAt.set(cause, now);
    return false;
  }

  return function logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
    const [record, ...rest]: readonly unknown[] = args;
    const facts = level > DEBUG ? unavailableStore(errorOf(record)) : null;
    if (facts === null || typeof record !== 'object') {
      method.apply(this, args);
      return;
    }
    // A request is a separate record, with its id.
    const isOfRequest = record !== null && 'requestId' in record;
    const write = method as (this: Logger, ...args: readonly unknown[]) => void;
    if (isOfRequest || !isTold(facts)) write.call(this, { ...record, err: new Told(facts) }, ...rest);
    const debug = this.debug as (this: Logger, ...args: readonly unknown[]) => void;
    debug.call(this, record, ...rest);
  };
}

function errorOf(record: unknown): unknown {
  return typeof record === 'object' && record !== null && 'err' in record ? record.err : undefined;
}

/** A log on a full disk loses lines; that must not end the service. */
function standardError(): DestinationStream {
  const stream = destination({ fd: STDERR, sync: true, maxLength: WAITING_BYTES_MAX });
  stream.on('error', () => {});
  return stream;
}
