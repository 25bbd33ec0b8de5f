/**
 * Answers of PostgreSQL that hold exactly the rows of their statement, starting at index 0.
 *
 * postgres.js counts the rows of a connection's answer, and keeps the count if a statement fails after its first rows,
 * or if the connection is lost there (issues 1119 and 1181 of the driver). The next statement on the connection then
 * succeeds, but its rows begin after as many empty places: a reader of the first row finds none. Statements of a
 * transaction follow its `begin`, which has no rows and resets the count.
 */
import type postgres from 'postgres';

/** Replaces `client.unsafe`, which Drizzle uses for a statement outside a transaction. */
export function withOwnRows(client: postgres.Sql): postgres.Sql {
  const unsafe: (...statement: Parameters<postgres.Sql['unsafe']>) => unknown = client.unsafe.bind(client);
  const guarded = (...statement: Parameters<postgres.Sql['unsafe']>) => {
    const query = unsafe(...statement) as DriversQuery;
    const { resolve } = query;
    // A copy (`readable`, `writable`) resolves with its stream.
    query.resolve = (rows) => resolve(Array.isArray(rows) ? withoutEmptyPlaces(rows) : rows);
    return query;
  };
  return Object.assign(client, { unsafe: guarded }) as postgres.Sql;
}

/** The driver settles a statement through this member. */
interface DriversQuery {
  resolve(rows: unknown): void;
}

/** Changes the list itself, which has further members beside its rows. */
function withoutEmptyPlaces(rows: unknown[]): unknown[] {
  const first = rows.findIndex((_, place) => place in rows);
  if (first > 0) rows.splice(0, first);
  return rows;
}
