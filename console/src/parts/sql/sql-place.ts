/** The place of a problem in a query, parsed from messages of the service: `sql: line 2, column 9: …`. */

export interface SqlPlace {
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Null if a message names no place. */
export function placeOf(error: unknown): SqlPlace | null {
  const message = error instanceof Error ? error.message : '';
  const found = /^sql: line (\d+), column (\d+): (.*)$/s.exec(message);
  if (found === null) return null;
  const [, line = '1', column = '1', text = ''] = found;
  return { line: Number(line), column: Number(column), message: text };
}
