import { bigint, index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';
import { contracts } from './contracts.ts';
import { products } from './products.ts';

/** Amounts that a contract is invoiced on given dates; the dates are in `invoice_schedule_items`. */
export const scheduledCharges = pgTable(
  'scheduled_charges',
  {
    id: uuid('id').primaryKey(),
    /** Order of addition. */
    sequence: bigint('sequence', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    contractId: uuid('contract_id')
      .notNull()
      .references(() => contracts.id),
    productId: uuid('product_id')
      .notNull()
      .references(() => products.id),
    name: text('name'),
    creditTypeId: uuid('credit_type_id').notNull(),
    createdAt: instant('created_at').notNull(),
    createdBy: text('created_by').notNull(),
    archivedAt: instant('archived_at'),
  },
  (table) => [index('scheduled_charges_contract').on(table.contractId, table.sequence)],
);
