import { sql } from 'drizzle-orm';
import { check, integer, pgTable } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';

/**
 * The instant from which the identity of a CloudEvent distinguishes slashes of its source from those of its id, one
 * row. Absent if every version that ran here distinguished them.
 */
export const cloudEventIdentities = pgTable(
  'cloud_event_identities',
  {
    id: integer('id').primaryKey().default(1),
    slashesApartFrom: instant('slashes_apart_from').notNull(),
  },
  (table) => [check('cloud_event_identities_one_row', sql`${table.id} = 1`)],
);
