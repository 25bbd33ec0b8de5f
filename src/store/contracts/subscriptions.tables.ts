import { sql } from 'drizzle-orm';
import { bigint, boolean, check, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { BILLING_FREQUENCIES } from '../../core/catalogue.ts';
import { PRORATION_ROUNDING_METHODS } from '../../core/terms/recurring-commits.ts';
import {
  COLLECTION_SCHEDULES,
  INVOICE_BEHAVIORS,
  INVOICE_PLACEMENTS,
  QUANTITY_MODES,
  SEAT_CHANGE_KINDS,
} from '../../core/terms/subscriptions.ts';
import { exact, instant } from '../base/columns.ts';
import { products } from '../products/products.tables.ts';
import { contracts } from './contracts.tables.ts';

export const subscriptions = pgTable(
  'subscriptions',
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
    billingFrequency: text('billing_frequency', { enum: BILLING_FREQUENCIES }).notNull(),
    name: text('name'),
    description: text('description'),
    collectionSchedule: text('collection_schedule', { enum: COLLECTION_SCHEDULES }).notNull(),
    isProrated: boolean('is_prorated').notNull(),
    invoiceBehavior: text('invoice_behavior', { enum: INVOICE_BEHAVIORS }).notNull(),
    roundingMethod: text('rounding_method', { enum: PRORATION_ROUNDING_METHODS }),
    roundingPlaces: integer('rounding_places'),
    quantityManagementMode: text('quantity_management_mode', { enum: QUANTITY_MODES }).notNull(),
    seatGroupKey: text('seat_group_key'),
    startingAt: instant('starting_at').notNull(),
    endingBefore: instant('ending_before'),
    anchorDate: instant('anchor_date'),
    invoicePlacement: text('invoice_placement', { enum: INVOICE_PLACEMENTS }).notNull(),
    createdAt: instant('created_at').notNull(),
    createdBy: text('created_by').notNull(),
  },
  (table) => [
    index('subscriptions_contract').on(table.contractId, table.sequence),
    check(
      'subscriptions_seats_have_a_key',
      sql`(${table.quantityManagementMode} = 'SEAT_BASED') = (${table.seatGroupKey} is not null)`,
    ),
  ],
);

/**
 * Subscriptions that existed before subscriptions were billed: usage invoices up to this instant were issued without
 * them. Newer ones have no row.
 */
export const subscriptionBillingStarts = pgTable('subscription_billing_starts', {
  subscriptionId: uuid('subscription_id')
    .primaryKey()
    .references(() => subscriptions.id),
  billedFrom: instant('billed_from').notNull(),
});

/** Every change of a quantity as it was submitted; the first is the initial quantity. */
export const subscriptionQuantityChanges = pgTable(
  'subscription_quantity_changes',
  {
    sequence: bigint('sequence', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    subscriptionId: uuid('subscription_id')
      .notNull()
      .references(() => subscriptions.id),
    startingAt: instant('starting_at').notNull(),
    quantity: exact('quantity'),
    quantityDelta: exact('quantity_delta'),
  },
  (table) => [
    index('subscription_quantity_changes_subscription').on(table.subscriptionId, table.sequence),
    check(
      'subscription_quantity_changes_one_of_both',
      sql`num_nonnulls(${table.quantity}, ${table.quantityDelta}) = 1`,
    ),
  ],
);

/** Every change of seats as it was submitted, one row per named seat. */
export const subscriptionSeatChanges = pgTable(
  'subscription_seat_changes',
  {
    sequence: bigint('sequence', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    subscriptionId: uuid('subscription_id')
      .notNull()
      .references(() => subscriptions.id),
    startingAt: instant('starting_at').notNull(),
    kind: text('kind', { enum: SEAT_CHANGE_KINDS }).notNull(),
    seatId: text('seat_id'),
    count: integer('count'),
  },
  (table) => [
    index('subscription_seat_changes_subscription').on(table.subscriptionId, table.sequence),
    check(
      'subscription_seat_changes_seat_or_count',
      sql`(${table.seatId} is not null) = (${table.kind} in ('ADD', 'REMOVE')) and num_nonnulls(${table.seatId}, ${table.count}) = 1`,
    ),
  ],
);
