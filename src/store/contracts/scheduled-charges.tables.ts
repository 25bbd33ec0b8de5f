import { bigint, boolean, index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { SCHEDULED_CHARGE_KINDS } from '../../core/terms/scheduled-charges.ts';
import { instant } from '../base/columns.ts';
import { products } from '../products/products.tables.ts';
import { contracts } from './contracts.tables.ts';

/** Amounts that a contract is invoiced on given dates, and discounts; the dates are in `invoice_schedule_items`. */
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
    kind: text('kind', { enum: SCHEDULED_CHARGE_KINDS }).notNull().default('CHARGE'),
    name: text('name'),
    /** Not printed; the API shows it on lines. */
    description: text('description'),
    creditTypeId: uuid('credit_type_id').notNull(),
    /** Whether it joins a usage invoice although the contract has its charges on separate invoices. */
    onUsageInvoice: boolean('on_usage_invoice').notNull().default(false),
    createdAt: instant('created_at').notNull(),
    createdBy: text('created_by').notNull(),
    archivedAt: instant('archived_at'),
  },
  (table) => [index('scheduled_charges_contract').on(table.contractId, table.sequence)],
);
