/** Conditions on ids. */
import { type Column, type SQL, sql } from 'drizzle-orm';

/**
 * Whether the column, a UUID, is one of `ids`; never true of an empty list. The list is one parameter: to build, describe
 * and send a statement with one for each of a thousand ids takes longer than to run it.
 */
export function isOneOf(column: Column, ids: Iterable<string>): SQL {
  return sql`${column} = any(${`{${[...ids].join(',')}}`}::uuid[])`;
}
