/** The table entry of a scalar function. */
import type { NameSource } from '../values/definitions.ts';
import type { ValueType } from '../values/value.ts';

/**
 * `shown`: any value, as its text. `literal`, `pattern` (a regular expression), `replacement` (for matches of a
 * pattern), `like`, `unit` and `zone` must be quoted in the query itself.
 */
export type ArgumentKind =
  | 'number'
  | 'whole'
  | 'text'
  | 'shown'
  | 'timestamp'
  | 'list'
  | 'literal'
  | 'pattern'
  | 'replacement'
  | 'like'
  | 'unit'
  | 'zone';

export interface ScalarFunction {
  /** In upper case. */
  readonly name: string;
  /** Other names used by analysts; case is ignored. */
  readonly synonyms?: readonly string[];
  readonly signature: string;
  readonly example: string;
  /** An explanation beyond the name. */
  readonly note?: string;
  readonly least: number;
  readonly most: number;
  readonly plan: ScalarPlan | null;
}

/** How a call is written; null in the table where the writer has a separate rule. */
export interface ScalarPlan {
  /** The kind of each argument; the last one applies to all further ones. */
  readonly takes: readonly ArgumentKind[];
  readonly gives: ValueType;
  /** The arguments are bound to names already, so they may be repeated. */
  readonly sql: (args: readonly string[], names: NameSource) => string;
}

/** A function of the table with a fixed number of arguments. */
export function scalar(
  name: string,
  signature: string,
  example: string,
  plan: ScalarPlan,
  extra: Partial<Pick<ScalarFunction, 'synonyms' | 'note' | 'least' | 'most'>> = {},
): ScalarFunction {
  const { length } = plan.takes;
  return { name, signature, example, least: length, most: length, ...extra, plan };
}

/** A function for which the writer has a rule. */
export function special(
  name: string,
  [least, most]: readonly [number, number],
  signature: string,
  example: string,
  extra: Partial<Pick<ScalarFunction, 'synonyms' | 'note'>> = {},
): ScalarFunction {
  return { name, signature, example, least, most, ...extra, plan: null };
}

/** A count or another integer of ClickHouse as a number. */
export function wholeResult(sql: string): string {
  return `toDecimal256(${sql}, 30)`;
}
