import { sql } from 'drizzle-orm';
import { bigint, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { exact, instant } from '../base/columns.ts';
import { customers } from '../customers/customers.tables.ts';

/** `expired` may be written late: an active hold past its expiry has ended as well. */
export const HOLD_STATUSES = ['active', 'settled', 'released', 'expired'] as const;

/** Amounts that are held of balances and limits before usage occurs (docs/explanation/holds.md). */
export const holds = pgTable(
  'holds',
  {
    id: uuid('id').primaryKey(),
    customerId: uuid('customer_id')
      .notNull()
      .references(() => customers.id),
    /** The id that the event will have. */
    transactionId: text('transaction_id').notNull(),
    /** Hash of the request: an identical request is a repeat. */
    contentHash: text('content_hash').notNull(),
    /** Null: the hold is for an amount. */
    eventType: text('event_type'),
    /** JSON of property names and texts, in the form stored for the event. */
    properties: text('properties'),
    /** The timestamp of the event. */
    timestamp: instant('timestamp').notNull(),
    amount: exact('amount').notNull(),
    creditTypeId: uuid('credit_type_id').notNull(),
    /** The quantity that could still be held after it; null: there was no limit. */
    remaining: exact('remaining'),
    status: text('status', { enum: HOLD_STATUSES }).notNull(),
    settledAmount: exact('settled_amount'),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    endedAt: instant('ended_at'),
    /**
     * The segments of prepaid balances that may pay for it, as of its grant. Empty: no balance applies. Null: unknown,
     * because there are many, or because a process of an earlier version has granted it.
     */
    payers: text('payers').array(),
  },
  (table) => [
    /** For every caller: one hold that may become the event. */
    uniqueIndex('holds_one_of_transaction')
      .on(table.transactionId)
      .where(sql`${table.status} in ('active', 'settled')`),
    index('holds_transaction').on(table.transactionId),
    index('holds_customer').on(table.customerId, table.createdAt, table.id),
    index('holds_active').on(table.customerId).where(sql`${table.status} = 'active'`),
    index('holds_ended').on(table.endedAt).where(sql`${table.endedAt} is not null`),
  ],
);

/**
 * Customers that have or had holds. The versions are the fence: a hold is granted only while both equal the versions
 * that the granting process has read.
 */
export const holdAccounts = pgTable('hold_accounts', {
  customerId: uuid('customer_id')
    .primaryKey()
    .references(() => customers.id),
  /** Grows with each change of the customer's holds. */
  version: bigint('version', { mode: 'number' }).notNull(),
  /** Grows with usage that arrives without a hold through another process. */
  usageMark: bigint('usage_mark', { mode: 'number' }).notNull(),
});

/** Statements that changed prices, or products that have prices. Written by triggers. */
export const priceChanges = pgTable(
  'price_changes',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    /** Null: every card. Without a foreign key: rows are removed by age. */
    rateCardId: uuid('rate_card_id'),
  },
  (table) => [index('price_changes_card').on(table.rateCardId, table.id)],
);
