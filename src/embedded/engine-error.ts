/** The embedded engine's errors, as the client reports those of a server. */
import { ClickHouseError } from '@clickhouse/client';

const ENGINE_ERROR = /Code: (\d+)\. DB::Exception: ((?:(?!Code: \d+\. DB::Exception: ).)*)\(([A-Z0-9_]+)\)/s;

/**
 * The engine's error with its code and type, as the client reports a server's. Read from the engine's
 * own text, because the client takes the first word in brackets for the type, and a syntax error quotes
 * the query before it.
 */
export function withEngineCode(error: unknown): unknown {
  const original = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const [, code, message, type] = (original instanceof Error && ENGINE_ERROR.exec(original.message)) || [];
  if (code === undefined || message === undefined || type === undefined) return error;
  const clear = new ClickHouseError({ message: message.trim(), code, type });
  clear.cause = original;
  return clear;
}
