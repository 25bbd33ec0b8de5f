/** How a value that was made from rows tells whether they are still the same. */
import { type SQL, sql } from 'drizzle-orm';

/**
 * A text that is another one for every state of every row of a table: a write gives a row another place or another
 * transaction. Only a server that was restored, or that took over from one, can use the number of a transaction
 * again, and it has been started since.
 */
export function stateOfRow(table: SQL): SQL<string> {
  return sql<string>`pg_postmaster_start_time() || ' ' || ${table}.ctid || ' ' || ${table}.xmin`;
}

/** The same for several rows together, in `order`. */
export function stateOfRows(table: SQL, order: SQL): SQL<string> {
  return sql<string>`pg_postmaster_start_time() || ' ' ||
    md5(string_agg(${table}.ctid || ' ' || ${table}.xmin, ',' order by ${order}))`;
}
