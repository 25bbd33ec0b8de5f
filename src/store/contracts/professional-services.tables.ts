import { bigint, index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { exact, instant } from '../base/columns.ts';
import { products } from '../products/products.tables.ts';
import { contracts } from './contracts.tables.ts';

/** Work that a contract is invoiced for on demand, up to a maximum. */
export const professionalServices = pgTable(
  'professional_services',
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
    description: text('description'),
    unitPrice: exact('unit_price').notNull(),
    quantity: exact('quantity').notNull(),
    maxAmount: exact('max_amount').notNull(),
    createdAt: instant('created_at').notNull(),
    createdBy: text('created_by').notNull(),
  },
  (table) => [index('professional_services_contract').on(table.contractId, table.sequence)],
);

/** Amounts of professional services that were requested for an invoice. */
export const requestedItems = pgTable(
  'requested_items',
  {
    id: uuid('id').primaryKey(),
    /** Order of the requests, and of the lines of one request. */
    sequence: bigint('sequence', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    serviceId: uuid('service_id')
      .notNull()
      .references(() => professionalServices.id),
    /** The invoice that the items of the request are on; set before it is issued. */
    invoiceId: uuid('invoice_id').notNull(),
    timestamp: instant('timestamp').notNull(),
    creditTypeId: uuid('credit_type_id').notNull(),
    unitPrice: exact('unit_price').notNull(),
    quantity: exact('quantity').notNull(),
    amount: exact('amount').notNull(),
    metadata: text('metadata'),
  },
  (table) => [index('requested_items_service').on(table.serviceId, table.sequence)],
);
