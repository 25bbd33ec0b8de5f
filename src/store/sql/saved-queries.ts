/** Named queries of analysts. */
import { asc, eq, gt } from 'drizzle-orm';
import { cutPage, type Page, type PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { givenQueries, savedQueries } from './saved-queries.tables.ts';

export interface SavedQuery {
  readonly id: string;
  readonly name: string;
  readonly sql: string;
  readonly savedBy: string;
  readonly savedAt: Instant;
  readonly createdAt: Instant;
}

/** Stores a query. An existing query with the same name keeps its id and gets the new text. Returns the id. */
export async function upsertQuery(db: Database | Transaction, query: SavedQuery): Promise<string> {
  const { sql, savedBy, savedAt } = query;
  const rows = await db
    .insert(savedQueries)
    .values(query)
    .onConflictDoUpdate({ target: savedQueries.name, set: { sql, savedBy, savedAt } })
    .returning({ id: savedQueries.id });
  return rows[0]?.id ?? query.id;
}

/** Stores the queries that were never given before, unless a query with the name is there. */
export async function giveQueries(tx: Transaction, queries: readonly SavedQuery[]): Promise<void> {
  const given = await tx
    .insert(givenQueries)
    .values(queries.map(({ name, savedAt }) => ({ name, givenAt: savedAt })))
    .onConflictDoNothing()
    .returning({ name: givenQueries.name });
  const names = new Set(given.map(({ name }) => name));
  const added = queries.filter(({ name }) => names.has(name));
  if (added.length > 0) await tx.insert(savedQueries).values(added).onConflictDoNothing();
}

/** The end of a page of saved queries. */
export interface SavedQueryPosition {
  readonly name: string;
}

/** By name. */
export async function listQueries(
  db: Database | Transaction,
  { after, limit }: PageRequest<SavedQueryPosition>,
): Promise<Page<SavedQuery, SavedQueryPosition>> {
  const rows = await db
    .select()
    .from(savedQueries)
    .where(after === null ? undefined : gt(savedQueries.name, after.name))
    .orderBy(asc(savedQueries.name))
    .limit(limit + 1);
  return cutPage(rows, limit, ({ name }) => ({ name }));
}

/** Returns whether the query existed. */
export async function deleteQuery(db: Database | Transaction, id: string): Promise<boolean> {
  const rows = await db
    .delete(savedQueries)
    .where(eq(savedQueries.id, id))
    .returning({ id: savedQueries.id });
  return rows.length > 0;
}
