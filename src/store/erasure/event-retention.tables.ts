import { sql } from 'drizzle-orm';
import { check, integer, pgTable } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';

/** The start of event retention, one row. Absent until events are removed for the first time. */
export const eventRetention = pgTable(
  'event_retention',
  {
    id: integer('id').primaryKey().default(1),
    /** The first instant of a month. It only moves forward, before the events are removed. */
    keptFrom: instant('kept_from').notNull(),
    /** In real time: every process knows of it a moment later. */
    announcedAt: instant('announced_at').notNull(),
  },
  (table) => [check('event_retention_one_row', sql`${table.id} = 1`)],
);
