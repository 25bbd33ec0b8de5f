import { sql } from 'drizzle-orm';
import { bigint, index, integer, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';

/** The receivers of messages. */
export const webhookEndpoints = pgTable(
  'webhook_endpoints',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    url: text('url').notNull(),
    /** Message types that it receives; null: all. */
    eventTypes: text('event_types').array(),
    /** Signs its messages, so the text itself is stored. */
    secret: text('secret').notNull(),
    /** The secret before the last rotation, which signs too until `former_secret_until`, in real time. */
    formerSecret: text('former_secret'),
    formerSecretUntil: instant('former_secret_until'),
    createdAt: instant('created_at').notNull(),
    archivedAt: instant('archived_at'),
    /** The process that sends its messages, until `lease_until` in real time. */
    leaseOwner: uuid('lease_owner'),
    leaseUntil: instant('lease_until'),
  },
  (table) => [index('webhook_endpoints_created').on(table.createdAt, table.id)],
);

/** Message types that are off by default and were enabled. */
export const enabledMessageTypes = pgTable('enabled_message_types', {
  type: text('type').primaryKey(),
});

/** Messages to be sent, written in the transaction of the change that they report. */
export const webhookMessages = pgTable(
  'webhook_messages',
  {
    id: uuid('id').primaryKey(),
    type: text('type').notNull(),
    /** Messages of one customer are sent in order. */
    customerId: uuid('customer_id'),
    /** The exact text that is sent and signed. */
    body: text('body').notNull(),
    /** In real time. */
    storedAt: instant('stored_at').notNull().default(sql`clock_timestamp()`),
  },
  (table) => [index('webhook_messages_stored').on(table.storedAt)],
);

/** A message on its way to one endpoint. All instants are in real time. */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    /** In the order in which the messages were written. */
    sequence: bigint('sequence', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    endpointId: uuid('endpoint_id')
      .notNull()
      .references(() => webhookEndpoints.id),
    messageId: uuid('message_id')
      .notNull()
      .references(() => webhookMessages.id, { onDelete: 'cascade' }),
    /** CANCELED: the endpoint was archived. */
    status: text('status', { enum: ['PENDING', 'DELIVERED', 'FAILED', 'CANCELED'] }).notNull(),
    attempts: integer('attempts').notNull().default(0),
    /** Failed attempts since it was last queued. */
    failures: integer('failures').notNull().default(0),
    nextAttemptAt: instant('next_attempt_at').notNull().default(sql`clock_timestamp()`),
    /** It is not retried after this instant. */
    retryUntil: instant('retry_until').notNull(),
    lastAttemptAt: instant('last_attempt_at'),
    /** The status of the last attempt; null without an answer. */
    lastStatus: integer('last_status'),
    lastAnswer: text('last_answer'),
    lastError: text('last_error'),
  },
  (table) => [
    unique('webhook_deliveries_once').on(table.messageId, table.endpointId),
    index('webhook_deliveries_of_endpoint').on(table.endpointId, table.sequence),
    index('webhook_deliveries_pending')
      .on(table.endpointId, table.nextAttemptAt, table.sequence)
      .where(sql`${table.status} = 'PENDING'`),
  ],
);
