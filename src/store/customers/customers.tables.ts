import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import {
  BILLABLE_STATUSES,
  BILLING_PROVIDERS,
  DELIVERY_METHODS,
  TAX_PROVIDERS,
} from '../../core/billing-providers.ts';
import { instant } from '../base/columns.ts';
import { billingConnections } from '../billing-providers/billing-connections.tables.ts';

export const customers = pgTable(
  'customers',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    /** The customer's account in a CRM; clients filter lists by it. */
    crmAccountId: text('crm_account_id'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    archivedAt: instant('archived_at'),
    /** Whether its invoices are delivered to a billing provider. */
    billableStatus: text('billable_status', { enum: BILLABLE_STATUSES }).notNull().default('billable'),
    /** Whether Stripe's invoices stay drafts; null: the default of the service. */
    leaveInvoicesInDraft: boolean('leave_invoices_in_draft'),
    /** `BillingAddress`; null: none. */
    billingAddress: jsonb('billing_address'),
    /** When the data that identifies the customer were removed. */
    erasedAt: instant('erased_at'),
  },
  (table) => [
    index('customers_created').on(table.createdAt, table.id),
    index('customers_crm_account').on(table.crmAccountId),
    /** For searches of a part of the name: all its parts of one to three characters (customer-search.ts). */
    index('customers_name_parts').using('gin', sql`customer_name_parts(${table.name})`),
  ],
);

/**
 * Names under which usage events refer to a customer. The primary key ensures that an alias has one customer;
 * archived customers keep theirs until they are removed.
 */
export const ingestAliases = pgTable(
  'ingest_aliases',
  {
    alias: text('alias').notNull(),
    customerId: uuid('customer_id')
      .notNull()
      .references(() => customers.id),
    /** Order in which the client listed them, from 0. */
    position: integer('position').notNull(),
  },
  (table) => [
    primaryKey({ name: 'ingest_aliases_pkey', columns: [table.alias] }),
    index('ingest_aliases_customer').on(table.customerId, table.position),
    /** For searches of the beginning of an alias, in any letter case. */
    index('ingest_aliases_search').on(sql`(lower(${table.alias})) collate "C"`),
  ],
);

/** How a customer's invoices reach a billing provider. `configuration` is not interpreted. */
export const customerBillingConfigurations = pgTable(
  'customer_billing_configurations',
  {
    id: uuid('id').primaryKey(),
    customerId: uuid('customer_id')
      .notNull()
      .references(() => customers.id),
    billingProvider: text('billing_provider', { enum: BILLING_PROVIDERS }).notNull(),
    deliveryMethod: text('delivery_method', { enum: DELIVERY_METHODS }).notNull(),
    /** Null if the service has no connection to the provider. */
    connectionId: uuid('connection_id').references(() => billingConnections.id),
    taxProvider: text('tax_provider', { enum: TAX_PROVIDERS }),
    configuration: jsonb('configuration').notNull(),
    /** Order of addition, for lists. */
    sequence: bigint('sequence', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    createdAt: instant('created_at').notNull(),
    archivedAt: instant('archived_at'),
  },
  (table) => [index('customer_billing_configurations_customer').on(table.customerId, table.sequence)],
);
