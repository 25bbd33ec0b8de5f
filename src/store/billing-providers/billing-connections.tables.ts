import { index, jsonb, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { BILLING_PROVIDERS, DELIVERY_METHODS } from '../../core/billing-providers.ts';
import { instant } from '../base/columns.ts';

/** The service's own connections to billing providers; clients know them as delivery methods. */
export const billingConnections = pgTable(
  'billing_connections',
  {
    id: uuid('id').primaryKey(),
    billingProvider: text('billing_provider', { enum: BILLING_PROVIDERS }).notNull(),
    deliveryMethod: text('delivery_method', { enum: DELIVERY_METHODS }).notNull(),
    /** Holds secrets; never returned unfiltered. */
    configuration: jsonb('configuration').notNull(),
    /** One id for provider, method and configuration together: the same connection is not created twice. */
    key: uuid('key').notNull(),
    createdAt: instant('created_at').notNull(),
    /** Nothing is delivered through an archived connection. */
    archivedAt: instant('archived_at'),
  },
  (table) => [
    unique('billing_connections_key_unique').on(table.key),
    index('billing_connections_created').on(table.createdAt, table.id),
  ],
);
