import { sql } from 'drizzle-orm';
import { bigint, boolean, check, integer, pgTable } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';

/**
 * The state of the log of events in front of an embedded ClickHouse, one row, to detect a log that was removed or
 * replaced. Absent until there is a log.
 */
export const eventLog = pgTable(
  'event_log',
  {
    id: integer('id').primaryKey().default(1),
    /** The number of the last record that was acknowledged, some seconds ago if the log is open. */
    acknowledged: bigint('acknowledged', { mode: 'number' }).notNull(),
    acknowledgedRows: bigint('acknowledged_rows', { mode: 'number' }).notNull(),
    /** ClickHouse has all records up to this one. */
    stored: bigint('stored', { mode: 'number' }).notNull(),
    storedRows: bigint('stored_rows', { mode: 'number' }).notNull(),
    /** True while a process uses it, or after one ended without closing it. */
    isOpen: boolean('is_open').notNull(),
    /** Real time. */
    recordedAt: instant('recorded_at').notNull(),
  },
  (table) => [check('event_log_one_row', sql`${table.id} = 1`)],
);
