/** The log: JSON lines on standard error, so that standard output stays with what the operator reads. */
import { type DestinationStream, destination, type Logger, pino } from 'pino';
import type { Config } from './config.ts';
import { failureFacts } from './core/failures.ts';

export type { Logger } from 'pino';

/** Secrets never reach the log, wherever in an object they stand. */
const SECRET_PATHS = ['authorization', '*.authorization', 'headers.authorization', 'token', '*.token'];

const STDERR = 2;

/** `to` is standard error, except in tests. */
export function createLogger(
  config: Pick<Config, 'logLevel'>,
  to: DestinationStream = destination({ fd: STDERR, sync: true }),
): Logger {
  return pino(
    {
      level: config.logLevel,
      base: null,
      redact: SECRET_PATHS,
      serializers: { err: failureFacts },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
    },
    to,
  );
}
