import { pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';

/** Named queries for `POST /v1/sql`. */
export const savedQueries = pgTable(
  'saved_queries',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    sql: text('sql').notNull(),
    /** The name of the token that saved it last. */
    savedBy: text('saved_by').notNull(),
    savedAt: instant('saved_at').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [unique('saved_queries_name_unique').on(table.name)],
);

/** Queries that this installation has been given once, whether it still has them or not. */
export const givenQueries = pgTable('given_queries', {
  name: text('name').primaryKey(),
  givenAt: instant('given_at').notNull(),
});
