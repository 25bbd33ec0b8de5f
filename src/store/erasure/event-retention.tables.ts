import { sql } from 'drizzle-orm';
import { check, integer, pgTable } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';

/** From when on events are kept, one row. Absent until events were removed for the first time. */
export const eventRetention = pgTable(
  'event_retention',
  {
    id: integer('id').primaryKey().default(1),
    /** The first instant of a month. It only ever moves forward, before the events are removed. */
    keptFrom: instant('kept_from').notNull(),
    /** In real time: every process knows it a moment later. */
    announcedAt: instant('announced_at').notNull(),
  },
  (table) => [check('event_retention_one_row', sql`${table.id} = 1`)],
);
