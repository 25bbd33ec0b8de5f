import { sql } from 'drizzle-orm';
import { bigint, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';

/** The parts that ClickHouse had at the last check, to detect one that disappears. */
export const eventStoreParts = pgTable(
  'event_store_parts',
  {
    table: text('table_name').notNull(),
    name: text('name').notNull(),
    tableId: text('table_id').notNull(),
    partition: text('partition_id').notNull(),
    minBlock: bigint('min_block', { mode: 'number' }).notNull(),
    maxBlock: bigint('max_block', { mode: 'number' }).notNull(),
    rows: bigint('rows', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.table, table.name] })],
);

/**
 * Rows that ClickHouse has lost. Open until they are restored, which deletes the row, or accepted, which keeps it
 * permanently. Settled: accepted, and no longer referenced.
 */
export const eventStoreLosses = pgTable(
  'event_store_losses',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    table: text('table_name').notNull(),
    part: text('part').notNull(),
    kind: text('kind').notNull(),
    /** Null: unknown. */
    rows: bigint('rows', { mode: 'number' }),
    /** In real time, as the other two. */
    foundAt: instant('found_at').notNull(),
    acceptedAt: instant('accepted_at'),
    settledAt: instant('settled_at'),
  },
  (table) => [
    uniqueIndex('event_store_losses_unsettled')
      .on(table.table, table.part)
      .where(sql`${table.settledAt} is null`),
  ],
);
