import { bigint, boolean, index, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { BILLING_FREQUENCIES, TIERS_MODES } from '../../core/catalogue.ts';
import { RATE_TARGETS } from '../../core/terms/applicability.ts';
import { OVERRIDE_TYPES } from '../../core/terms/overrides.ts';
import { exact, instant } from '../base/columns.ts';
import { products } from '../products/products.tables.ts';
import { contracts } from './contracts.tables.ts';

/** Deviations of a contract from its rate card. */
export const overrides = pgTable(
  'overrides',
  {
    id: uuid('id').primaryKey(),
    /** Order of addition: between equally strong overrides the later one wins. */
    sequence: bigint('sequence', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    contractId: uuid('contract_id')
      .notNull()
      .references(() => contracts.id),
    startingAt: instant('starting_at').notNull(),
    endingBefore: instant('ending_before'),
    entitled: boolean('entitled'),
    type: text('type', { enum: OVERRIDE_TYPES }),
    multiplier: exact('multiplier'),
    priority: exact('priority'),
    /** `{rate, creditTypeId}`, decimals as text. */
    overwriteRate: jsonb('overwrite_rate'),
    /** A list of `{size, multiplier}`, decimals as text. */
    tiers: jsonb('tiers').notNull(),
    /** Null: graduated. */
    tiersMode: text('tiers_mode', { enum: TIERS_MODES }),
    productId: uuid('product_id').references(() => products.id),
    applicableProductTags: text('applicable_product_tags').array().notNull(),
    isCommitSpecific: boolean('is_commit_specific').notNull(),
    target: text('target', { enum: RATE_TARGETS }).notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index('overrides_contract').on(table.contractId, table.sequence)],
);

/** The target of an override; its specifiers are ORed, the columns of one are ANDed. */
export const overrideSpecifiers = pgTable(
  'override_specifiers',
  {
    overrideId: uuid('override_id')
      .notNull()
      .references(() => overrides.id, { onDelete: 'cascade' }),
    position: integer('position').notNull(),
    productId: uuid('product_id').references(() => products.id),
    productTags: text('product_tags').array().notNull(),
    pricingGroupValues: jsonb('pricing_group_values').notNull(),
    presentationGroupValues: jsonb('presentation_group_values').notNull(),
    billingFrequency: text('billing_frequency', { enum: BILLING_FREQUENCIES }),
    commitIds: uuid('commit_ids').array().notNull(),
    recurringCommitIds: uuid('recurring_commit_ids').array().notNull(),
    anyCommitOrCreditIds: uuid('any_commit_or_credit_ids').array().notNull(),
    /** A list of `{productTags}`. */
    exclude: jsonb('exclude').notNull().default([]),
  },
  (table) => [primaryKey({ name: 'override_specifiers_pkey', columns: [table.overrideId, table.position] })],
);
