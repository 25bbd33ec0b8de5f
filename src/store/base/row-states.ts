/** Version texts of rows, which show whether a value built from rows is still current. */
import { type SQL, sql } from 'drizzle-orm';

/**
 * A text that differs for every state of every row of a table: a write gives a row another place or another
 * transaction. Only a server that was restored, or that replaced another by failover, can reuse the number of a
 * transaction, and such a server has been restarted since.
 */
export function stateOfRow(table: SQL): SQL<string> {
  return sql<string>`pg_postmaster_start_time() || ' ' || ${placeOfRow(table)}`;
}

/** `stateOfRow` for several rows together, in `order`. */
export function stateOfRows(table: SQL, order: SQL): SQL<string> {
  return sql<string>`pg_postmaster_start_time() || ' ' ||
    md5(string_agg(${placeOfRow(table)}, ',' order by ${order}))`;
}

/** Each row's part of `stateOfRows`. Never the same for two states of a row while its server runs. */
export function placeOfRow(table: SQL): SQL<string> {
  return sql<string>`${table}.ctid || ' ' || ${table}.xmin`;
}

/** The part of `stateOfRows` that identifies the server since its last start. */
export function serverOf(state: string): string {
  return state.slice(0, state.lastIndexOf(' '));
}

export function isServer(server: string): SQL<boolean> {
  return sql<boolean>`pg_postmaster_start_time()::text = ${server}`;
}
