/** Converts the error text of a ClickHouse server to the error that the embedded engine throws. */
import { ClickHouseError } from '@clickhouse/client';

/** The innermost of the exceptions that a cluster nests: code, message, type. */
const EXCEPTION = /Code: (\d+)\. DB::\w*Exception: ((?:(?!Code: \d+\. DB::).)*)\(([A-Z0-9_]+)\)/s;

/** Longer answers from something other than ClickHouse are cut. */
const QUOTED_CHARACTERS = 300;

/**
 * Parsed from the whole answer, because `@clickhouse/client` reads the first upper-case word in brackets as the type,
 * and the message of a syntax error quotes the query before it.
 */
export function serverFailure(answer: string, status: number | undefined): Error {
  const [, code, message, type] = EXCEPTION.exec(answer) ?? [];
  if (code !== undefined && message !== undefined && type !== undefined) {
    return new ClickHouseError({ message: message.trim(), code, type });
  }
  const said = answer.trim().slice(0, QUOTED_CHARACTERS);
  return new Error(`ClickHouse answered ${status ?? 'nothing'}: ${said}`);
}
