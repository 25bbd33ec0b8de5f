import {
  bigint,
  boolean,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { BILLING_FREQUENCIES, TIERS_MODES } from '../../core/catalogue.ts';
import { exact, instant } from '../base/columns.ts';
import { products } from '../products/products.tables.ts';

export const rateCards = pgTable(
  'rate_cards',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    description: text('description'),
    fiatCreditTypeId: uuid('fiat_credit_type_id').notNull(),
    createdAt: instant('created_at').notNull(),
    createdBy: text('created_by').notNull(),
    archivedAt: instant('archived_at'),
  },
  (table) => [index('rate_cards_created').on(table.createdAt, table.id)],
);

/** The value of one custom pricing unit in the card's currency. Rows are added, never changed. */
export const rateCardConversions = pgTable(
  'rate_card_conversions',
  {
    rateCardId: uuid('rate_card_id')
      .notNull()
      .references(() => rateCards.id),
    customCreditTypeId: uuid('custom_credit_type_id').notNull(),
    fiatPerCustomCredit: exact('fiat_per_custom_credit').notNull(),
  },
  (table) => [
    primaryKey({ name: 'rate_card_conversions_pkey', columns: [table.rateCardId, table.customCreditTypeId] }),
  ],
);

/**
 * Every assignment of an alias to a card, as it was submitted. Which card an alias refers to at an instant is derived
 * (rating/rates/alias-schedule.ts), so a takeover never has to change another card's rows.
 */
export const rateCardAliases = pgTable(
  'rate_card_aliases',
  {
    /** Order of assignment; the later one takes the alias over. */
    sequence: bigint('sequence', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    name: text('name').notNull(),
    rateCardId: uuid('rate_card_id')
      .notNull()
      .references(() => rateCards.id),
    startingAt: instant('starting_at'),
    endingBefore: instant('ending_before'),
    createdAt: instant('created_at').notNull(),
    /**
     * Set when the card's aliases were replaced: the assignment is no longer in force, but assignments that it
     * ended stay ended.
     */
    withdrawnAt: instant('withdrawn_at'),
  },
  (table) => [
    index('rate_card_aliases_name').on(table.name, table.sequence),
    index('rate_card_aliases_card').on(table.rateCardId),
  ],
);

/**
 * The products a card has prices for. The row is created with the product's first rate and fixes its pricing unit
 * permanently; `position` is its place on invoices once an order was set.
 */
export const rateCardProducts = pgTable(
  'rate_card_products',
  {
    rateCardId: uuid('rate_card_id')
      .notNull()
      .references(() => rateCards.id),
    productId: uuid('product_id')
      .notNull()
      .references(() => products.id),
    creditTypeId: uuid('credit_type_id').notNull(),
    position: integer('position'),
    /** Order of addition: the place of products without a position, after those with one. */
    sequence: bigint('sequence', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
  },
  (table) => [
    primaryKey({ name: 'rate_card_products_pkey', columns: [table.rateCardId, table.productId] }),
    index('rate_card_products_product').on(table.productId),
  ],
);

/**
 * The identities of a card's rates: the rates of one identity are versions of one price. `sequence` is the order in
 * which identities were added to the card, which is the order of lists.
 */
export const rateIdentities = pgTable(
  'rate_identities',
  {
    sequence: bigint('sequence', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    rateCardId: uuid('rate_card_id').notNull(),
    productId: uuid('product_id').notNull(),
    pricingGroupValues: jsonb('pricing_group_values').notNull(),
    billingFrequency: text('billing_frequency', { enum: BILLING_FREQUENCIES }),
    /** One id for product, group values and frequency together: group values may be too long for an index. */
    key: uuid('key').notNull(),
    /** Whether one of its rates is entitled; rates are never removed. */
    everEntitled: boolean('ever_entitled').notNull(),
  },
  (table) => [
    unique('rate_identities_key_unique').on(table.rateCardId, table.key),
    foreignKey({
      name: 'rate_identities_rate_card_product_fk',
      columns: [table.rateCardId, table.productId],
      foreignColumns: [rateCardProducts.rateCardId, rateCardProducts.productId],
    }),
    index('rate_identities_card').on(table.rateCardId, table.sequence),
    index('rate_identities_product').on(table.rateCardId, table.productId, table.sequence),
  ],
);

/**
 * Every added rate, as it was added. The rate in force at an instant is derived (rating/rates/rate-schedule.ts). Which
 * of the value columns are set depends on `rate_type`; the shapes are parsed in store/rate-cards/rate-columns.ts.
 */
export const rates = pgTable(
  'rates',
  {
    /** Order of addition; the later one wins. */
    sequence: bigint('sequence', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    id: uuid('id').notNull(),
    identity: bigint('identity', { mode: 'number' })
      .notNull()
      .references(() => rateIdentities.sequence),
    startingAt: instant('starting_at').notNull(),
    endingBefore: instant('ending_before'),
    entitled: boolean('entitled').notNull(),
    rateType: text('rate_type', {
      enum: ['FLAT', 'TIERED', 'PERCENTAGE', 'TIERED_PERCENTAGE', 'SUBSCRIPTION'],
    }).notNull(),
    price: exact('price'),
    /** A list of `{size, price}` with decimals as text. */
    tiers: jsonb('tiers'),
    /** Null: graduated. */
    tiersMode: text('tiers_mode', { enum: TIERS_MODES }),
    minimum: exact('minimum'),
    quantity: exact('quantity'),
    isProrated: boolean('is_prorated'),
    /** `{rate_type, price, tiers, tiers_mode}` with decimals as text. */
    commitRate: jsonb('commit_rate'),
    creditTypeId: uuid('credit_type_id').notNull(),
    createdAt: instant('created_at').notNull(),
    createdBy: text('created_by').notNull(),
  },
  (table) => [
    uniqueIndex('rates_id').on(table.id),
    index('rates_identity').on(table.identity, table.sequence),
  ],
);
