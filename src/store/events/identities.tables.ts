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
