import { sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { RATE_TARGETS } from '../../core/terms/applicability.ts';
import { COMMIT_TYPES } from '../../core/terms/commits.ts';
import {
  COMMIT_PRORATIONS,
  PRORATION_ROUNDING_METHODS,
  RECURRENCE_FREQUENCIES,
} from '../../core/terms/recurring-commits.ts';
import { exact, instant } from '../base/columns.ts';
import { contracts } from '../contracts/contracts.tables.ts';
import { scheduledCharges } from '../contracts/scheduled-charges.tables.ts';
import { subscriptions } from '../contracts/subscriptions.tables.ts';
import { customers } from '../customers/customers.tables.ts';
import { products } from '../products/products.tables.ts';

/** `specifiers`: a list of `{productId, productTags, pricingGroupValues, presentationGroupValues, exclude}`. */
const applicabilityColumns = () => ({
  applicableProductIds: uuid('applicable_product_ids').array().notNull(),
  applicableProductTags: text('applicable_product_tags').array().notNull(),
  specifiers: jsonb('specifiers').notNull(),
});

/** `childContractIds` is set for CONTRACT_IDS only. */
const hierarchyColumns = () => ({
  childAccess: text('child_access', { enum: ['ALL', 'NONE', 'CONTRACT_IDS'] }),
  childContractIds: uuid('child_contract_ids').array().notNull(),
});

/** The amount that a unit of a recurring term granted before the term was changed: grants that have begun keep it. */
export const recurringUnitPrices = pgTable(
  'recurring_unit_prices',
  {
    /** Order of the changes. */
    sequence: bigint('sequence', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    recurringCommitId: uuid('recurring_commit_id')
      .notNull()
      .references((): AnyPgColumn => recurringCommits.id),
    unitPrice: exact('unit_price').notNull(),
    /** When it was changed. */
    until: instant('until').notNull(),
  },
  (table) => [index('recurring_unit_prices_of_term').on(table.recurringCommitId)],
);

/** Terms that create a commit or a credit in every period of a contract. */
export const recurringCommits = pgTable(
  'recurring_commits',
  {
    id: uuid('id').primaryKey(),
    /** Order of addition. */
    sequence: bigint('sequence', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    contractId: uuid('contract_id')
      .notNull()
      .references(() => contracts.id),
    kind: text('kind', { enum: ['COMMIT', 'CREDIT'] }).notNull(),
    name: text('name'),
    description: text('description'),
    productId: uuid('product_id')
      .notNull()
      .references(() => products.id),
    accessUnitPrice: exact('access_unit_price').notNull(),
    accessQuantity: exact('access_quantity'),
    accessCreditTypeId: uuid('access_credit_type_id').notNull(),
    invoiceUnitPrice: exact('invoice_unit_price'),
    invoiceQuantity: exact('invoice_quantity'),
    invoiceCreditTypeId: uuid('invoice_credit_type_id'),
    priority: exact('priority').notNull(),
    rateType: text('rate_type', { enum: RATE_TARGETS }).notNull(),
    rolloverFraction: exact('rollover_fraction'),
    ...applicabilityColumns(),
    ...hierarchyColumns(),
    startingAt: instant('starting_at').notNull(),
    endingBefore: instant('ending_before'),
    commitDurationPeriods: integer('commit_duration_periods').notNull(),
    recurrenceFrequency: text('recurrence_frequency', { enum: RECURRENCE_FREQUENCIES }),
    proration: text('proration', { enum: COMMIT_PRORATIONS }).notNull(),
    accessRoundingMethod: text('access_rounding_method', { enum: PRORATION_ROUNDING_METHODS }),
    accessRoundingPlaces: integer('access_rounding_places'),
    invoiceRoundingMethod: text('invoice_rounding_method', { enum: PRORATION_ROUNDING_METHODS }),
    invoiceRoundingPlaces: integer('invoice_rounding_places'),
    subscriptionId: uuid('subscription_id').references(() => subscriptions.id),
    allocation: text('allocation', { enum: ['POOLED', 'INDIVIDUAL'] }),
    prorateSeatIncreases: boolean('prorate_seat_increases'),
    createdAt: instant('created_at').notNull(),
    createdBy: text('created_by').notNull(),
  },
  (table) => [
    index('recurring_commits_contract').on(table.contractId, table.sequence),
    uniqueIndex('recurring_commits_daily_once')
      .on(table.contractId)
      .where(sql`${table.recurrenceFrequency} = 'DAILY'`),
    check(
      'recurring_commits_quantity_or_subscription',
      sql`(${table.accessQuantity} is null) = (${table.subscriptionId} is not null)`,
    ),
  ],
);

/** Commits and credits, of a contract or of a customer. */
export const commits = pgTable(
  'commits',
  {
    id: uuid('id').primaryKey(),
    /** Order of addition. */
    sequence: bigint('sequence', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    customerId: uuid('customer_id')
      .notNull()
      .references(() => customers.id),
    /** Null: belongs to the customer. */
    contractId: uuid('contract_id').references(() => contracts.id),
    type: text('type', { enum: COMMIT_TYPES }).notNull(),
    name: text('name'),
    description: text('description'),
    productId: uuid('product_id')
      .notNull()
      .references(() => products.id),
    priority: exact('priority').notNull(),
    rateType: text('rate_type', { enum: RATE_TARGETS }).notNull(),
    rolloverFraction: exact('rollover_fraction'),
    accessCreditTypeId: uuid('access_credit_type_id').notNull(),
    /** Null: no invoice schedule. */
    invoiceCreditTypeId: uuid('invoice_credit_type_id'),
    doNotInvoice: boolean('do_not_invoice').notNull(),
    invoiceContractId: uuid('invoice_contract_id').references(() => contracts.id),
    ...applicabilityColumns(),
    applicableContractIds: uuid('applicable_contract_ids').array().notNull(),
    ...hierarchyColumns(),
    countsAsDiscounted: boolean('counts_as_discounted'),
    /** `{type, taxType, stripe, precalculatedTax}`, decimals as text. */
    paymentGate: jsonb('payment_gate'),
    recurringCommitId: uuid('recurring_commit_id').references(() => recurringCommits.id),
    rolledOverFromCommitId: uuid('rolled_over_from_commit_id').references((): AnyPgColumn => commits.id),
    rolledOverFromContractId: uuid('rolled_over_from_contract_id').references(() => contracts.id),
    /** Commits and credits share one space of keys. */
    uniquenessKey: text('uniqueness_key'),
    createdAt: instant('created_at').notNull(),
    createdBy: text('created_by'),
    archivedAt: instant('archived_at'),
  },
  (table) => [
    unique('commits_uniqueness_key_unique').on(table.uniquenessKey),
    index('commits_contract').on(table.contractId, table.sequence),
    index('commits_customer').on(table.customerId, table.createdAt, table.id),
    index('commits_recurring').on(table.recurringCommitId),
    index('commits_invoice_contract').on(table.invoiceContractId, table.sequence),
  ],
);

/** The segments of access schedules. */
export const accessSegments = pgTable(
  'access_segments',
  {
    id: uuid('id').primaryKey(),
    sequence: bigint('sequence', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    commitId: uuid('commit_id')
      .notNull()
      .references(() => commits.id),
    amount: exact('amount').notNull(),
    startingAt: instant('starting_at').notNull(),
    endingBefore: instant('ending_before').notNull(),
  },
  (table) => [
    index('access_segments_commit').on(table.commitId, table.sequence),
    // Equal: its contract was renewed at its start.
    check('access_segments_end_not_before_start', sql`${table.endingBefore} >= ${table.startingAt}`),
  ],
);

/** Adjustments of segments by hand. */
export const manualBalanceEntries = pgTable(
  'manual_balance_entries',
  {
    id: uuid('id').primaryKey(),
    /** Order of addition. */
    sequence: bigint('sequence', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    commitId: uuid('commit_id')
      .notNull()
      .references(() => commits.id),
    /** The credit note that it belongs to; null: an adjustment by hand. */
    creditNoteId: uuid('credit_note_id'),
    /** An edit may have removed the segment; its entries count in no balance then. */
    segmentId: uuid('segment_id').notNull(),
    amount: exact('amount').notNull(),
    reason: text('reason').notNull(),
    timestamp: instant('timestamp').notNull(),
    createdAt: instant('created_at').notNull(),
    createdBy: text('created_by').notNull(),
  },
  (table) => [
    index('manual_balance_entries_commit').on(table.commitId, table.sequence),
    index('manual_balance_entries_credit_note')
      .on(table.creditNoteId)
      .where(sql`${table.creditNoteId} is not null`),
  ],
);

/** The items of invoice schedules, of a commit or of a scheduled charge. */
export const invoiceScheduleItems = pgTable(
  'invoice_schedule_items',
  {
    id: uuid('id').primaryKey(),
    sequence: bigint('sequence', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    commitId: uuid('commit_id').references(() => commits.id),
    scheduledChargeId: uuid('scheduled_charge_id').references(() => scheduledCharges.id),
    timestamp: instant('timestamp').notNull(),
    unitPrice: exact('unit_price').notNull(),
    quantity: exact('quantity').notNull(),
    amount: exact('amount').notNull(),
  },
  (table) => [
    index('invoice_schedule_items_commit').on(table.commitId, table.timestamp),
    index('invoice_schedule_items_charge').on(table.scheduledChargeId, table.timestamp),
    check(
      'invoice_schedule_items_one_owner',
      sql`num_nonnulls(${table.commitId}, ${table.scheduledChargeId}) = 1`,
    ),
  ],
);
