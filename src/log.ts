/** The log: JSON lines on standard error, so that standard output stays with what the operator reads. */
import { destination, type Logger, pino } from 'pino';
import type { Config } from './config.ts';

export type { Logger } from 'pino';

/** Secrets never reach the log, wherever in an object they stand. */
const SECRET_PATHS = ['authorization', '*.authorization', 'headers.authorization', 'token', '*.token'];

export function createLogger(config: Pick<Config, 'logLevel'>): Logger {
  const stderr = 2;
  return pino(
    {
      level: config.logLevel,
      base: null,
      redact: SECRET_PATHS,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
    },
    destination({ fd: stderr, sync: true }),
  );
}
