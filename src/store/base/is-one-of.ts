/** Conditions on ids. */
import { type Column, type Placeholder, type SQL, sql } from 'drizzle-orm';

/**
 * Whether the column, a UUID, is one of `ids`; never true of an empty list. The list is one parameter: to build, describe
 * and send a statement with one for each of a thousand ids takes longer than to run it.
 */
export function isOneOf(column: Column, ids: Iterable<string>): SQL {
  return isInList(column, uuidList(ids));
}

/** The same of a list from `uuidList`, or that is given when the statement is carried out. */
export function isInList(column: Column, list: string | Placeholder): SQL {
  return sql`${column} = any(${list}::uuid[])`;
}

/** The same of a column of any texts. */
export function isOneOfTexts(column: Column, texts: Iterable<string>): SQL {
  return sql`${column} = any(array(select jsonb_array_elements_text(${JSON.stringify([...texts])}::jsonb)))`;
}

export function uuidList(ids: Iterable<string>): string {
  return `{${[...ids].join(',')}}`;
}
