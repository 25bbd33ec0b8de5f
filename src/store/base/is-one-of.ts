/** Conditions on ids. */
import { type Column, type Placeholder, type SQL, sql } from 'drizzle-orm';

/**
 * Whether the column, a UUID, is one of `ids`; never true for an empty list. The list is one parameter: with one for
 * each of a thousand ids, a statement takes longer to build, describe and send than to run.
 */
export function isOneOf(column: Column, ids: Iterable<string>): SQL {
  return isInList(column, uuidList(ids));
}

/** Like `isOneOf`, with a list from `uuidList` or a placeholder. */
export function isInList(column: Column, list: string | Placeholder): SQL {
  return sql`${column} = any(${list}::uuid[])`;
}

/** Like `isOneOf`, for a column of any texts. */
export function isOneOfTexts(column: Column, texts: Iterable<string>): SQL {
  return sql`${column} = any(array(select jsonb_array_elements_text(${JSON.stringify([...texts])}::jsonb)))`;
}

export function uuidList(ids: Iterable<string>): string {
  return `{${[...ids].join(',')}}`;
}
