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
  primaryKey,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { MULTIPLIER_PRIORITIZATIONS } from '../../core/terms/overrides.ts';
import { exact, instant } from '../base/columns.ts';
import { customerBillingConfigurations, customers } from '../customers/customers.tables.ts';
import { rateCards } from '../rate-cards/rate-cards.tables.ts';
import { packages } from './packages.tables.ts';

/**
 * The header of a contract as it is now. Its terms (commits, overrides, charges, …) have separate tables
 * that point here.
 */
export const contracts = pgTable(
  'contracts',
  {
    id: uuid('id').primaryKey(),
    customerId: uuid('customer_id')
      .notNull()
      .references(() => customers.id),
    /** The package that the contract was created from; its terms were copied. */
    packageId: uuid('package_id').references(() => packages.id),
    name: text('name'),
    /** Resolved once, when the contract was created. Without one there are no usage lines. */
    rateCardId: uuid('rate_card_id').references(() => rateCards.id),
    startingAt: instant('starting_at').notNull(),
    endingBefore: instant('ending_before'),
    statementFrequency: text('statement_frequency', {
      enum: ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'],
    }).notNull(),
    statementDay: text('statement_day', {
      enum: ['FIRST_OF_MONTH', 'CONTRACT_START', 'CUSTOM_DATE'],
    }).notNull(),
    /** Set for CUSTOM_DATE only. */
    statementAnchor: instant('statement_anchor'),
    /** Usage invoices for periods that start before this instant are not issued. */
    invoiceGenerationStartingAt: instant('invoice_generation_starting_at'),
    netPaymentTermsDays: integer('net_payment_terms_days'),
    /** The limit of usage beyond balances, for each billing period; null: none. */
    spendLimitAmount: exact('spend_limit_amount'),
    spendLimitCreditTypeId: uuid('spend_limit_credit_type_id'),
    multiplierPrioritization: text('multiplier_prioritization', {
      enum: MULTIPLIER_PRIORITIZATIONS,
    }).notNull(),
    scheduledChargesOnUsageInvoices: boolean('scheduled_charges_on_usage_invoices').notNull(),
    billingConfigurationId: uuid('billing_configuration_id').references(
      () => customerBillingConfigurations.id,
    ),
    /** The parent of a child, and its customer; both or neither. */
    parentContractId: uuid('parent_contract_id').references((): AnyPgColumn => contracts.id),
    parentCustomerId: uuid('parent_customer_id').references(() => customers.id),
    payer: text('payer', { enum: ['SELF', 'PARENT'] }),
    usageStatementBehavior: text('usage_statement_behavior', { enum: ['CONSOLIDATE', 'SEPARATE'] }),
    invoiceConsolidationType: text('invoice_consolidation_type', { enum: ['CONCATENATE', 'NONE'] }),
    uniquenessKey: text('uniqueness_key'),
    createdAt: instant('created_at').notNull(),
    createdBy: text('created_by').notNull(),
    archivedAt: instant('archived_at'),
  },
  (table) => [
    unique('contracts_uniqueness_key_unique').on(table.uniquenessKey),
    index('contracts_customer').on(table.customerId, table.startingAt, table.id),
    index('contracts_rate_card').on(table.rateCardId),
    index('contracts_package').on(table.packageId, table.startingAt, table.id),
    index('contracts_parent').on(table.parentContractId),
    check(
      'contracts_anchor_for_custom_date',
      sql`(${table.statementDay} = 'CUSTOM_DATE') = (${table.statementAnchor} is not null)`,
    ),
    // Equal if it was renewed at its start.
    check(
      'contracts_end_not_before_start',
      sql`${table.endingBefore} is null or ${table.endingBefore} >= ${table.startingAt}`,
    ),
    check(
      'contracts_parent_with_customer',
      sql`(${table.parentContractId} is null) = (${table.parentCustomerId} is null)`,
    ),
  ],
);

/** Usage filters with their starts. If two have the same start, the one added later applies. */
export const contractUsageFilters = pgTable(
  'contract_usage_filters',
  {
    sequence: bigint('sequence', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    contractId: uuid('contract_id')
      .notNull()
      .references(() => contracts.id),
    groupKey: text('group_key').notNull(),
    groupValues: text('group_values').array().notNull(),
    startingAt: instant('starting_at').notNull(),
  },
  (table) => [index('contract_usage_filters_contract').on(table.contractId, table.startingAt)],
);

/** Renewals. A contract is followed by one contract at most, and follows one at most. */
export const contractTransitions = pgTable(
  'contract_transitions',
  {
    fromContractId: uuid('from_contract_id')
      .notNull()
      .references(() => contracts.id),
    toContractId: uuid('to_contract_id')
      .notNull()
      .references(() => contracts.id),
    rollsOver: boolean('rolls_over').notNull(),
    trueup: text('trueup', { enum: ['REMOVE', 'AS_IS'] }).notNull(),
  },
  (table) => [
    primaryKey({ name: 'contract_transitions_pkey', columns: [table.toContractId] }),
    unique('contract_transitions_from_unique').on(table.fromContractId),
  ],
);

/**
 * The whole contract before a change. Written by every change, never updated. The first row is the contract as
 * created; a contract without rows was never changed.
 */
export const contractVersions = pgTable(
  'contract_versions',
  {
    sequence: bigint('sequence', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    contractId: uuid('contract_id')
      .notNull()
      .references(() => contracts.id),
    /** When the change replaced it. */
    supersededAt: instant('superseded_at').notNull(),
    /** A `FullContract` in JSON; decimals are text, instants milliseconds. */
    document: jsonb('document').notNull(),
  },
  (table) => [index('contract_versions_contract').on(table.contractId, table.sequence)],
);
