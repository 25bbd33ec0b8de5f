import { sql } from 'drizzle-orm';
import { bigint, boolean, check, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { exact, instant } from '../base/columns.ts';
import { products } from '../products/products.tables.ts';
import { contracts } from './contracts.tables.ts';

/** Columns that both kinds of threshold share. `paymentGate` is `{type, taxType, …}`, decimals as text. */
const thresholdColumns = () => ({
  contractId: uuid('contract_id')
    .primaryKey()
    .references(() => contracts.id),
  isEnabled: boolean('is_enabled').notNull(),
  thresholdAmount: exact('threshold_amount').notNull(),
  commitProductId: uuid('commit_product_id')
    .notNull()
    .references(() => products.id),
  commitName: text('commit_name'),
  commitDescription: text('commit_description'),
  commitPriority: exact('commit_priority'),
  paymentGate: jsonb('payment_gate').notNull(),
  discountPaymentFraction: exact('discount_payment_fraction'),
  discountCapTrackerAlias: text('discount_cap_tracker_alias'),
  discountCapAmount: exact('discount_cap_amount'),
});

/** Spend that is billed as soon as it reaches an amount; at most one a contract. */
export const spendThresholds = pgTable('spend_thresholds', thresholdColumns());

/** A prepaid balance that is recharged as soon as it falls to an amount; at most one per contract. */
export const prepaidBalanceThresholds = pgTable(
  'prepaid_balance_thresholds',
  {
    ...thresholdColumns(),
    rechargeToAmount: exact('recharge_to_amount').notNull(),
    customCreditTypeId: uuid('custom_credit_type_id'),
    applicableProductIds: uuid('applicable_product_ids').array().notNull(),
    applicableProductTags: text('applicable_product_tags').array().notNull(),
    specifiers: jsonb('specifiers').notNull(),
    /** A list of `{exclude: [{customFieldFilters: [{entity, key, value}]}]}`. */
    balanceSpecifiers: jsonb('balance_specifiers').notNull(),
    countHolds: boolean('count_holds').notNull().default(false),
  },
  (table) => [
    check(
      'prepaid_balance_thresholds_recharge_above_threshold',
      sql`${table.rechargeToAmount} > ${table.thresholdAmount}`,
    ),
  ],
);

export const spendTrackers = pgTable(
  'spend_trackers',
  {
    /** Order of addition. */
    sequence: bigint('sequence', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    contractId: uuid('contract_id')
      .notNull()
      .references(() => contracts.id),
    alias: text('alias').notNull(),
    creditTypeId: uuid('credit_type_id').notNull(),
    /** A list of `{spendType, sources, discounted}`. */
    specifiers: jsonb('specifiers').notNull(),
    archivedAt: instant('archived_at'),
  },
  (table) => [
    uniqueIndex('spend_trackers_alias_unique')
      .on(table.contractId, table.alias)
      .where(sql`${table.archivedAt} is null`),
  ],
);
