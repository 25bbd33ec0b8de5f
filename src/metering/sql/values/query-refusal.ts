/** Refusals of SQL metrics: line and column, the problem, and the allowed alternatives. */
import { invalid, type Refusal } from '../../../core/errors.ts';

/** A refusal (`invalid`, field `sql`) for the character at `position` of `text`. */
export function refuseAt(text: string, position: number, problem: string): Refusal {
  const before = text.slice(0, position);
  const line = before.split('\n').length;
  const column = before.length - before.lastIndexOf('\n');
  return invalid(['sql'], `line ${line}, column ${column}: ${problem}`);
}

/** Aborts the parsing of a query; the caller with the text converts it to a refusal. */
export class QueryProblem extends Error {
  override readonly name = 'QueryProblem';
  /** Index into the text of the query. */
  readonly position: number;

  constructor(position: number, message: string) {
    super(message);
    this.position = position;
  }
}

/** Runs `read` on the text of a query; a `QueryProblem` becomes a refusal that names line and column. */
export function locatingProblems<Result>(text: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof QueryProblem) throw refuseAt(text, error.position, error.message);
    throw error;
  }
}
