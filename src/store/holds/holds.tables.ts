import { sql } from 'drizzle-orm';
import { bigint, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { exact, instant } from '../base/columns.ts';
import { customers } from '../customers/customers.tables.ts';

/** `expired` is written when it is noticed: an active hold whose time is over has ended as well. */
export const HOLD_STATUSES = ['active', 'settled', 'released', 'expired'] as const;

/** Amounts that are held of balances and limits before usage happens (docs/explanation/holds.md). */
export const holds = pgTable(
  'holds',
  {
    id: uuid('id').primaryKey(),
    customerId: uuid('customer_id')
      .notNull()
      .references(() => customers.id),
    /** The one that the event will have. */
    transactionId: text('transaction_id').notNull(),
    /** Of what was asked for: the same again is a repeat. */
    contentHash: text('content_hash').notNull(),
    /** Null: an amount is held. */
    eventType: text('event_type'),
    /** JSON of their names and texts, as they would be stored of the event. */
    properties: text('properties'),
    /** When the event happens. */
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
     * The segments of prepaid balances that may pay for it, as of its grant. None: no balance applies. Null: not known,
     * because there are many, or a process of an earlier version has granted it.
     */
    payers: text('payers').array(),
  },
  (table) => [
    /** Whoever reserves: one hold that may become the event. */
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
 * Whose holds there are or have been. The versions are the fence: a hold is granted only while both are what the process
 * that grants it has seen.
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

/** Statements that have changed prices, or products that have some. Written by triggers. */
export const priceChanges = pgTable(
  'price_changes',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    /** Null: of every card. Without a foreign key: rows are removed by age. */
    rateCardId: uuid('rate_card_id'),
  },
  (table) => [index('price_changes_card').on(table.rateCardId, table.id)],
);
