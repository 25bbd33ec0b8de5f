/** Maps the embedded engine's errors to the form in which the client reports those of a server. */
import { ClickHouseError } from '@clickhouse/client';

const ENGINE_ERROR = /Code: (\d+)\. DB::Exception: ((?:(?!Code: \d+\. DB::Exception: ).)*)\(([A-Z0-9_]+)\)/s;

/**
 * The engine's error with its code and type, in the form of a server's. Parsed from the engine's own text, because the
 * client reads the first word in brackets as the type, and a syntax error quotes the query before it.
 */
export function withEngineCode(error: unknown): unknown {
  const original = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const [, code, message, type] = (original instanceof Error && ENGINE_ERROR.exec(original.message)) || [];
  if (code === undefined || message === undefined || type === undefined) return error;
  const clear = new ClickHouseError({ message: message.trim(), code, type });
  clear.cause = original;
  return clear;
}
