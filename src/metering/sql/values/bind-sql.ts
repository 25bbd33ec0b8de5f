/** Binds a value that an expression uses several times to a name, so that ClickHouse computes it once. */
import type { NameSource } from './definitions.ts';

/**
 * `body` with names for values that it uses several times. ClickHouse has no LET, and an alias is repeated in full at
 * each use, which grows exponentially when aliases build on aliases; the arguments of a lambda are computed once and
 * stay one name.
 */
export function bind(
  names: NameSource,
  values: readonly string[],
  body: (variables: readonly string[]) => string,
): string {
  const variables = values.map(() => names.fresh('x'));
  const lists = values.map((value) => `[${value}]`).join(', ');
  return `arrayElement(arrayMap((${variables.join(', ')}) -> ${body(variables)}, ${lists}), 1)`;
}
