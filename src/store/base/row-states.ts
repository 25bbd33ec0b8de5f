/** How a value that was built from rows shows whether they are still the same. */
import { type SQL, sql } from 'drizzle-orm';

/**
 * A text that is another one for every state of every row of a table: a write gives a row another place or another
 * transaction. Only a server that was restored, or that took over from one, can use the number of a transaction
 * again, and it has been started since.
 */
export function stateOfRow(table: SQL): SQL<string> {
  return sql<string>`pg_postmaster_start_time() || ' ' || ${placeOfRow(table)}`;
}

/** The same for several rows together, in `order`. */
export function stateOfRows(table: SQL, order: SQL): SQL<string> {
  return sql<string>`pg_postmaster_start_time() || ' ' ||
    md5(string_agg(${placeOfRow(table)}, ',' order by ${order}))`;
}

/** Each row's part of `stateOfRows`. A text in which a row has one is not written again while its server runs. */
export function placeOfRow(table: SQL): SQL<string> {
  return sql<string>`${table}.ctid || ' ' || ${table}.xmin`;
}

/** The part of `stateOfRows` that tells the server, since its last start. */
export function serverOf(state: string): string {
  return state.slice(0, state.lastIndexOf(' '));
}

export function isServer(server: string): SQL<boolean> {
  return sql<boolean>`pg_postmaster_start_time()::text = ${server}`;
}
