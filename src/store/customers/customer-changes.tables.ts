import { sql } from 'drizzle-orm';
import { bigint, index, pgTable, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';

/**
 * Customers whose terms, balances or ingest aliases a transaction has changed: every process soon reads the rows and
 * evaluates the customers. Rows are deleted after an hour.
 */
export const customerChanges = pgTable(
  'customer_changes',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    customerId: uuid('customer_id').notNull(),
    /** In real time. */
    changedAt: instant('changed_at').notNull().default(sql`now()`),
  },
  (table) => [
    index('customer_changes_changed_at').on(table.changedAt),
    index('customer_changes_customer').on(table.customerId, table.id),
  ],
);
