import { pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';

/** Custom pricing units. The fiat currencies are constants of core/credit-types.ts and have no rows. */
export const creditTypes = pgTable(
  'credit_types',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [unique('credit_types_name_unique').on(table.name)],
);
