import { sql } from 'drizzle-orm';
import { check, integer, pgTable } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';

/** The sandbox clock, one row. Absent unless the service has run with SANDBOX_NOW. */
export const serviceClock = pgTable(
  'service_clock',
  {
    id: integer('id').primaryKey().default(1),
    now: instant('now').notNull(),
  },
  (table) => [check('service_clock_one_row', sql`${table.id} = 1`)],
);
