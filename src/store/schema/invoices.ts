import { sql } from 'drizzle-orm';
import { index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { exact, instant } from '../columns.ts';
import { contracts } from './contracts.ts';
import { customers } from './customers.ts';

/**
 * Issued invoices. Drafts are not here: they are computed when they are read. A row and its lines never
 * change after the transaction that wrote them, except for the status, which may become VOID.
 */
export const invoices = pgTable(
  'invoices',
  {
    id: uuid('id').primaryKey(),
    customerId: uuid('customer_id')
      .notNull()
      .references(() => customers.id),
    contractId: uuid('contract_id')
      .notNull()
      .references(() => contracts.id),
    type: text('type', { enum: ['USAGE'] }).notNull(),
    status: text('status', { enum: ['FINALIZED', 'VOID'] }).notNull(),
    periodStart: instant('period_start').notNull(),
    periodEnd: instant('period_end').notNull(),
    issuedAt: instant('issued_at').notNull(),
    creditTypeId: uuid('credit_type_id').notNull(),
    total: exact('total').notNull(),
    netPaymentTermsDays: integer('net_payment_terms_days'),
    /** Names the frozen hourly lines in ClickHouse. */
    breakdownId: uuid('breakdown_id').notNull(),
  },
  (table) => [
    uniqueIndex('invoices_contract_period_once')
      .on(table.contractId, table.type, table.periodStart)
      .where(sql`${table.status} <> 'VOID'`),
    index('invoices_customer_issued').on(table.customerId, table.issuedAt, table.id),
  ],
);

export const invoiceLineItems = pgTable(
  'invoice_line_items',
  {
    invoiceId: uuid('invoice_id')
      .notNull()
      .references(() => invoices.id),
    /** Order on the invoice, from 0; also the line's number in the frozen hourly lines. */
    position: integer('position').notNull(),
    type: text('type', { enum: ['usage'] }).notNull(),
    productId: uuid('product_id').notNull(),
    productType: text('product_type').notNull(),
    productTags: text('product_tags').array().notNull(),
    name: text('name').notNull(),
    creditTypeId: uuid('credit_type_id').notNull(),
    startingAt: instant('starting_at').notNull(),
    endingBefore: instant('ending_before').notNull(),
    quantity: exact('quantity').notNull(),
    unitPrice: exact('unit_price').notNull(),
    total: exact('total').notNull(),
    pricingGroupValues: jsonb('pricing_group_values').notNull(),
    presentationGroupValues: jsonb('presentation_group_values').notNull(),
    tier: jsonb('tier'),
  },
  (table) => [primaryKey({ columns: [table.invoiceId, table.position] })],
);
