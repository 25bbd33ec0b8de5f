import { sql } from 'drizzle-orm';
import {
  boolean,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { BILLING_PROVIDERS } from '../../core/billing-providers.ts';
import { EXTERNAL_STATUSES } from '../../core/external-invoice.ts';
import { exact, instant } from '../base/columns.ts';
import { billingConnections } from '../billing-providers/billing-connections.tables.ts';
import { customerBillingConfigurations, customers } from '../customers/customers.tables.ts';
import { invoices } from './invoices.tables.ts';

/**
 * Issued invoices on their way to a billing provider, and their state there. The row is written by the transaction that
 * issues the invoice. An invoice without a row is not delivered.
 */
export const invoiceDeliveries = pgTable(
  'invoice_deliveries',
  {
    invoiceId: uuid('invoice_id')
      .primaryKey()
      .references(() => invoices.id),
    customerId: uuid('customer_id')
      .notNull()
      .references(() => customers.id),
    billingProvider: text('billing_provider', { enum: BILLING_PROVIDERS }).notNull(),
    /** The configuration for the delivery. Null: the simulated provider. */
    configurationId: uuid('configuration_id'),
    /** The account that it is delivered to; null if the provider has none. */
    connectionId: uuid('connection_id').references(() => billingConnections.id),
    /** The commit whose balance waits for the payment of this invoice. */
    gatedCommitId: uuid('gated_commit_id'),
    status: text('status', { enum: EXTERNAL_STATUSES }).notNull().default('QUEUED'),
    /** Its kind at the provider; decided before the first call. */
    method: text('method', { enum: ['invoice', 'payment_intent', 'webhook'] }),
    /** When the first call began, in real time: from then on the provider may have it. */
    mappedAt: instant('mapped_at'),
    /** Whether a call that creates something has had no clear answer. */
    isDoubtful: boolean('is_doubtful').notNull().default(false),
    externalId: text('external_id'),
    number: text('number'),
    /** When the last step of its delivery was done, in real time: afterwards the provider is only polled. */
    deliveredAt: instant('delivered_at'),
    /** These times are the provider's. */
    finalizedAt: instant('finalized_at'),
    sentAt: instant('sent_at'),
    paidAt: instant('paid_at'),
    pdfUrl: text('pdf_url'),
    paymentUrl: text('payment_url'),
    /** In the unit of the invoice. */
    total: exact('total'),
    subTotal: exact('sub_total'),
    taxAmount: exact('tax_amount'),
    taxableAmount: exact('taxable_amount'),
    taxTransactionId: text('tax_transaction_id'),
    paymentId: text('payment_id'),
    /** Money and credit paid for it, in the unit of the invoice. */
    amountPaid: exact('amount_paid'),
    /** Why its last payment failed. */
    paymentError: text('payment_error'),
    error: text('error'),
    /** Whether it was voided here, so that it has to be voided there. */
    voidWanted: boolean('void_wanted').notNull().default(false),
    /** Whether the void is done, or was refused permanently. */
    voidEnded: boolean('void_ended').notNull().default(false),
    /** Whether it was paid there, wholly or partly, when it was voided here or since. */
    wasPaid: boolean('was_paid').notNull().default(false),
    /** When the refund was recorded, by the clock of the service. */
    refundedAt: instant('refunded_at'),
    /** Whether it was decided to collect its amounts again although it was paid there. */
    collectAgain: boolean('collect_again').notNull().default(false),
    attempts: integer('attempts').notNull().default(0),
    /** Consecutive failed attempts. */
    failures: integer('failures').notNull().default(0),
    /** When the first of these ended, by the clock of the service. */
    failingSince: instant('failing_since'),
    /** When the next step is due, by the clock of the service; null: nothing is due. */
    dueAt: instant('due_at'),
    /** The only writer, until `lease_until` in real time. */
    leaseOwner: uuid('lease_owner'),
    leaseUntil: instant('lease_until'),
    /** A message of the provider arrived during the running or the last attempt: at its end the state is read again. */
    isAsked: boolean('is_asked').notNull().default(false),
    /** By the clock of the service. */
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    foreignKey({
      // The generated name would be longer than PostgreSQL's names may be.
      name: 'invoice_deliveries_configuration_fk',
      columns: [table.configurationId],
      foreignColumns: [customerBillingConfigurations.id],
    }),
    index('invoice_deliveries_due').on(table.dueAt, table.invoiceId).where(sql`${table.dueAt} is not null`),
    index('invoice_deliveries_status').on(table.status, table.invoiceId),
    index('invoice_deliveries_failing')
      .on(table.invoiceId)
      .where(sql`${table.failingSince} is not null and ${table.dueAt} is not null`),
    index('invoice_deliveries_voided')
      .on(table.invoiceId)
      .where(sql`${table.voidWanted} and ${table.refundedAt} is null`),
    uniqueIndex('invoice_deliveries_external').on(table.connectionId, table.externalId),
  ],
);

/** Events that providers have sent, so that each counts once. Stored for some days, longer than they are sent again. */
export const providerEvents = pgTable(
  'provider_events',
  {
    connectionId: uuid('connection_id')
      .notNull()
      .references(() => billingConnections.id),
    eventId: text('event_id').notNull(),
    /** In real time. */
    receivedAt: instant('received_at').notNull(),
  },
  (table) => [
    primaryKey({ name: 'provider_events_pkey', columns: [table.connectionId, table.eventId] }),
    index('provider_events_received').on(table.receivedAt),
  ],
);
