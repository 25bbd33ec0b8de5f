import { sql } from 'drizzle-orm';
import { check, integer, pgTable } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';

/**
 * The instant from which spans are identified by the id of the answer, one row. Absent if no version ran here that
 * identified all of them by trace and span.
 */
export const spanIdentities = pgTable(
  'span_identities',
  {
    id: integer('id').primaryKey().default(1),
    responseIdsFrom: instant('response_ids_from').notNull(),
  },
  (table) => [check('span_identities_one_row', sql`${table.id} = 1`)],
);
